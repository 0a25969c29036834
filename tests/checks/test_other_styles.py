"""Right programs in styles that are rare, and known from elsewhere: none loses a point."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file
from test_unfinished import FINISHED, VIT

from vitcheck.checks.grading.grading import grade
from vitcheck.submissions.host.process import Zygote

_ARGUMENTS = "image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, num_classes=10"
_CONSTRUCTOR = f"    def __init__(self, {_ARGUMENTS}):\n"
_SIZES = ["image_size", "patch_size", "dim", "depth", "heads", "mlp", "num_classes"]
_READING = "import json\nfrom pathlib import Path\n"
_NORM = (
    "norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)",
    "norm1, self.norm2 = Norm(dim), Norm(dim)",
)

_LAZY = (
    "class Block",
    """class Lazy(nn.Module):
    def build(self, x):
        pass

    def call(self, x):
        raise NotImplementedError

    def forward(self, x):
        if not hasattr(self, "built"):
            self.built = True
            self.build(x)
        return self.call(x)


class Norm(Lazy):
    def __init__(self, dim):
        super().__init__()

    def build(self, x):
        self.gain, self.shift = nn.Parameter(torch.ones(x.shape[-1])), nn.Parameter(torch.zeros(x.shape[-1]))

    def call(self, x):
        return nn.functional.layer_norm(x, x.shape[-1:], self.gain, self.shift)


class Block""",
)
_BIAS_FIRST = (
    "class Block",
    """class Norm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.gain, self.shift = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        return torch.addcmul(self.shift, nn.functional.layer_norm(x, x.shape[-1:]), self.gain)


class Block""",
)
_CONFIGURATION = (
    _CONSTRUCTOR,
    "    def __init__(self, config):\n"
    + "".join(f"        {name} = config.{name}\n" for name in _SIZES)
    + "        self.config = config\n",
)
_HELD_BY_ITS_BASE = (
    "class Block",
    f"""class Configuration:
    def __init__(self, **others):
        self.returns_all = others.pop("returns_all", False)
        self.label_names = [f"label {{one}}" for one in range(others.pop("num_classes", 10))]

    @property
    def num_classes(self):
        return len(self.label_names)


class ViTConfiguration(Configuration):
    def __init__(self, image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, **others):
        super().__init__(**others)
        {"; ".join(f"self.{name} = {name}" for name in _SIZES[:-1])}


class Block""",
)
_POOLED = (
    "return x[:, 0]",
    "return {'cls': lambda: x[:, 0], 'mean': lambda: x.mean(1)}[self.config['pool']]()",
)
_OF_A_KEY = (
    _CONSTRUCTOR,
    "    def __init__(self, config):\n        super().__init__()\n"
    "        self.config = config = config.get('model', config)\n"
    + "".join(f"        {name} = config['{name}']\n" for name in _SIZES),
)
_GREY = (
    (
        "self.patches = nn.Conv2d(3, dim, patch_size, patch_size)",
        "self.patches = nn.Linear(patch_size**2, dim); self.p = patch_size",
    ),
    (
        "x = self.patches(image).flatten(2).transpose(1, 2)",
        "rows = [row.split(self.p, dim=2) for row in image.split(self.p, dim=1)]\n"
        "        x = self.patches(torch.stack([one.flatten(1) for row in rows for one in row], 1))",
    ),
)
_REGISTERS = (
    ("num_classes=10):", "num_classes=10, num_registers=4):"),
    (
        "self.norm, self.head =",
        "self.registers = nn.Parameter(torch.zeros(1, num_registers, dim))\n        self.norm, self.head =",
    ),
    ("x = x + self.pos\n", "x = torch.cat([x + self.pos, self.registers.expand(len(x), -1, -1)], dim=1)\n"),
)
_FACTORY = (
    "class Block",
    "def tiny(depth=2, **sizes):\n    return ViT(**{**dict(dim=32, heads=2, depth=depth), **sizes})\n\n\n"
    "class Block",
)
_OF_THE_CLASS = (
    (
        _CONSTRUCTOR,
        "    IMG, P, D, DEPTH, HEADS, M, K = 28, 4, 64, 4, 4, 128, 10\n\n"
        "    def __init__(self):\n"
        "        image_size, patch_size, dim, depth, heads, mlp, num_classes = (\n"
        "            self.IMG, self.P, self.D, self.DEPTH, self.HEADS, self.M, self.K\n        )\n",
    ),
)
_SUMMED_HEADS = (
    (
        "nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads",
        "nn.Linear(dim, 3 * dim), [nn.Linear(dim // heads, dim) for _ in range(heads)], heads\n"
        "        self.proj = nn.ModuleList(self.proj)",
    ),
    (
        "return self.proj(context.transpose(1, 2).reshape(B, T, D))",
        "return sum(layer(one) for layer, one in zip(self.proj, context.unbind(1)))",
    ),
)
_TABLES_OF_A_GRID = (
    (
        "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))",
        "g = image_size // patch_size\n        self.first = nn.Parameter(torch.zeros(1, dim))\n"
        "        self.row, self.column = (nn.Parameter(torch.zeros(*one, dim)) for one in ((g, 1), (1, g)))",
    ),
    ("x = x + self.pos", "x = x + torch.cat([self.first, (self.row + self.column).flatten(0, 1)])"),
)
_KEPT_ALIKE = (
    (
        "self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)",
        "self.read, self.write = (nn.Parameter(torch.randn(mlp, dim) * 0.02) for _ in range(2))",
    ),
    (
        "return self.fc2(nn.functional.gelu(self.fc1(x)))",
        "inside = nn.functional.gelu(torch.einsum('btd,md->btm', x, self.read))\n"
        "        return torch.einsum('btm,md->btd', inside, self.write)",
    ),
)
_HEAD_UNITS = (
    ("mlp=128, num_classes=10", "mlp_head_units=128, num_classes=10"),
    ("Block(dim, heads, mlp)", "Block(dim, heads, 2 * dim)"),
    (
        "nn.LayerNorm(dim), nn.Linear(dim, num_classes)",
        "nn.LayerNorm(dim), nn.Linear(mlp_head_units, num_classes)\n"
        "        self.features = nn.Linear(dim, mlp_head_units)",
    ),
    ("return x[:, 0]", "return nn.functional.gelu(self.features(x[:, 0]))"),
)
_A_LETTER = (
    _CONSTRUCTOR,
    "    def __init__(self, img=32, p=8, n=64, n_layer=4, n_head=4, n_cls=10):\n"
    "        image_size, patch_size, dim, depth, heads = img, p, n, n_layer, n_head\n"
    "        mlp, num_classes = 4 * n, n_cls\n",
)
_READS_A_PART = (
    (
        _CONSTRUCTOR,
        _CONSTRUCTOR.replace("image_size=32, patch_size=8", "patch_size=4") + "        image_size = 28\n",
    ),
    ("self.patches(image)", "self.patches(image[..., :28, :28])"),
)
_PUT_OVER = (
    (
        "class Block",
        "def settings(**over):\n"
        "    found = dict(H=32, W=32, P=8, D=64, L=4, heads=4, M=128, K=10)\n"
        "    assert not set(over) - set(found)\n    found.update(over)\n"
        '    found["N"] = (found["H"] // found["P"]) * (found["W"] // found["P"])\n    return found\n\n\n'
        "class Block",
    ),
    (
        _CONSTRUCTOR,
        "    def __init__(self, **options):\n        c = settings(**options)\n"
        "        patch_size, dim, depth, heads, mlp, num_classes = (c[one] for one in "
        "('P', 'D', 'L', 'heads', 'M', 'K'))\n",
    ),
    ("(image_size // patch_size) ** 2", "c['N']"),
)
_KERNEL = (
    (
        "self.patches = nn.Conv2d(3, dim, patch_size, patch_size)",
        "self.kernel = nn.Parameter(torch.randn(3, patch_size, patch_size, dim) * 0.02); self.p = patch_size",
    ),
    (
        "x = self.patches(image).flatten(2).transpose(1, 2)",
        "B, C, H, W = image.shape\n"
        "        x = image.reshape(B, C, H // self.p, self.p, W // self.p, self.p)\n"
        "        x = torch.einsum('bcipjr,cprd->bijd', x, self.kernel).flatten(1, 2)",
    ),
)
_OF_THE_PAPER = (
    _CONSTRUCTOR,
    "    def __init__(self, H=48, W=48, P=6, C=3, D=128, L=6, k=4, D_mlp=256, K=10):\n"
    "        image_size, patch_size, dim, depth, heads, mlp, num_classes = H, P, D, L, k, D_mlp, K\n",
)
_SMALL_PATCHES = (
    ("nn.Conv2d(3, dim, patch_size, patch_size)", "nn.Conv2d(3, dim, 4, 4)"),
    ("image_size=32, patch_size=8, dim=64", "dim=64"),
    (
        "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))",
        "self.steps = 10000 ** (-torch.arange(0, dim, 2) / dim)",
    ),
    (
        "x = x + self.pos\n",
        "angles = torch.arange(x.shape[1])[:, None] * self.steps\n"
        "        x = x + torch.stack([angles.sin(), angles.cos()], -1).flatten(1)\n",
    ),
)
_HANDED_DOWN = (
    (
        "def __init__(self, dim, heads, mlp):",
        "def __init__(self, width, *, mlp=128, **others):\n        dim = width",
    ),
    ("nn.Linear(dim, dim), heads\n", "nn.Linear(dim, dim), self.kept(**others)\n"),
    (
        "    def attention(self, x):",
        "    def kept(self, heads=4):\n        return heads\n\n    def attention(self, x):",
    ),
    ("heads=4, mlp=128, num_classes=10):", "num_classes=10, **others):"),
    ("Block(dim, heads, mlp) for", "Block(dim, **others) for"),
)
STYLES = {
    "arguments handed down beside one that is given by its place": _HANDED_DOWN,
    "options put over defaults": _PUT_OVER,
    "a kernel of patches that is a parameter": _KERNEL,
    "letters as in the paper": (_OF_THE_PAPER,),
    "patches of four pixels, and an image of any size": _SMALL_PATCHES,
    "sizes that the class keeps itself": _OF_THE_CLASS,
    "an output projection of each head": _SUMMED_HEADS,
    "positions of rows and of columns": _TABLES_OF_A_GRID,
    "both maps of the MLP kept the same way round": _KEPT_ALIKE,
    "a hidden layer of the head": _HEAD_UNITS,
    "a width called a letter": (_A_LETTER,),
    "a pass that reads no more than it knows of": _READS_A_PART,
    "parameters that the first pass makes": (_LAZY, _NORM),
    "a norm that reads its bias first": (_BIAS_FIRST, _NORM),
    "a configuration that holds what its base makes": (
        _HELD_BY_ITS_BASE,
        _CONFIGURATION,
        ("return x[:, 0]", "return x if self.config.returns_all else x[:, 0]"),
    ),
    "a key that the pass looks up": (
        _OF_A_KEY,
        ("        super().__init__()\n        self.patches", "        self.patches"),
        _POOLED,
    ),
    "grey images without an axis of channels": _GREY,
    "pixels scaled by the model, once they are in a row": (
        ("self.patches(image)", "self.patches((image.flatten() / 127.5 - 1).view_as(image))"),
    ),
    "pixels scaled by the model": (("self.patches(image)", "self.patches(image / 127.5 - 1)"),),
    "no registers where that can be": _REGISTERS,
    "a factory that gives what it is given": (_FACTORY,),
    "what comes before the logits beside them": (
        (
            "return self.head(self.pooled(self.norm(x)))",
            "before = self.pooled(self.norm(x))\n        return self.head(before), {'pre_logits': before}",
        ),
    ),
    "heads as wide as a token": (
        (
            "nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)",
            "nn.Linear(dim, 3 * dim * heads), nn.Linear(dim * heads, dim)",
        ),
        ("reshape(B, T, 3, self.heads, D // self.heads)", "reshape(B, T, 3, self.heads, D)"),
        ("/ (D // self.heads) ** 0.5", "/ D**0.5"),
        ("transpose(1, 2).reshape(B, T, D)", "transpose(1, 2).flatten(2)"),
    ),
    "room for the class token in the positions": (
        ("        self.cls = nn.Parameter(torch.zeros(1, 1, dim))\n", ""),
        (
            "x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)",
            "x = nn.functional.pad(x, (0, 0, 1, 0))",
        ),
    ),
}


def test_sizes_in_a_file_beside_the_code_are_read(zygote: Zygote, tmp_path: Path) -> None:
    """As code finds it that is run from another folder."""
    names = ", ".join(_SIZES)
    build = (
        "\n\ndef build():\n    here = Path(__file__).resolve().parent\n"
        '    sizes = json.loads((here / "sizes.json").read_text())\n    return ViT(**sizes)\n\n\n'
        "model = build()\n"
    )
    arguments = f"    def __init__(self, *, {names}):\n"
    text = edited(FINISHED, [(_CONSTRUCTOR, arguments)]).replace(
        "import torch\n", "import torch\n" + _READING, 1
    )
    (tmp_path / "vit").mkdir()
    (tmp_path / "vit" / "vit.py").write_text(text + build)
    values = dict(zip(_SIZES, (32, 8, 64, 4, 4, 128, 10)))
    (tmp_path / "vit" / "sizes.json").write_text(json.dumps(values))
    result = grade(tmp_path / "vit", VIT.model_copy(update={"examples": 4}), zygote=zygote, seed=1)
    assert (result.reason, result.score.earned) == (None, result.score.possible)


@pytest.mark.parametrize("style", STYLES)
def test_a_right_program_has_all_points_in_any_style(style: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(FINISHED, STYLES[style]), VIT, zygote, tmp_path)
    wrong = [one.id for one in result.checks if one.points and one.earned < one.points]
    assert (result.reason, wrong, result.score.earned) == (None, [], result.score.possible)
