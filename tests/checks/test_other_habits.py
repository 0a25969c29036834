"""Programs of people with other habits: from other frameworks, in other languages, of another course."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import demand_all_points, graded_file
from test_unfinished import FINISHED, VIT, graded

from vitcheck.submissions.host.process import Zygote

_CONSTRUCTOR = "self, image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, num_classes=10"
_EMBEDDING = "self.patches = nn.Conv2d(3, dim, patch_size, patch_size)"
_MADE = "self.qkv, self.proj, self.heads = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads\n"
_PATCHES = "        x = self.patches(image).flatten(2).transpose(1, 2)\n"
_TOKENS = "        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)\n"
_POSITIONS = "        x = x + self.pos\n"
_SETTINGS = "        image_size, patch_size, dim, depth, heads, mlp, num_classes = 28, 7, 64, 4, 4, 128, 10\n"
_CUT = "image.unfold(2, 7, 7).unfold(3, 7, 7).reshape(len(image), 16, 49)"

RIGHT = {
    "channels and both sides of a patch as axes of a parameter, and no known name": (
        (f"({_CONSTRUCTOR})", "(self)"),
        ("class ViT(", "TURS, KENAR, YAMA, KANAL = 10, 32, 4, 3\n\n\nclass ViT("),
        (_EMBEDDING, "self.w = nn.Parameter(0.1 * torch.randn(KANAL, YAMA, YAMA, 64))"),
        (
            "torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim)",
            "torch.zeros((KENAR // YAMA) ** 2 + 1, 64)",
        ),
        ("1, 1, dim)", "1, 1, 64)"),
        ("Block(dim, heads, mlp) for _ in range(depth)", "Block(64, 4, 128) for _ in range(4)"),
        ("nn.LayerNorm(dim), nn.Linear(dim, num_classes)", "nn.LayerNorm(64), nn.Linear(64, TURS)"),
        (
            _PATCHES,
            "        x = image.unfold(2, YAMA, YAMA).unfold(3, YAMA, YAMA)\n"
            '        x = torch.einsum("gcrtij,cijm->grtm", x, self.w).flatten(1, 2)\n',
        ),
    ),
    "features before tokens, of as many patches of 7 by 7 as another patch has pixels": (
        (f"({_CONSTRUCTOR}):\n", f"(self):\n{_SETTINGS}"),
        (_EMBEDDING, "self.patches = nn.Conv1d(49, dim, 1)"),
        (_PATCHES, f"        x = self.patches({_CUT}.transpose(1, 2)).transpose(1, 2)\n"),
    ),
    "one matrix for each channel, of which nothing but what attends tells the patch": (
        (f"({_CONSTRUCTOR}):\n", f"(self):\n{_SETTINGS}"),
        (_EMBEDDING, "self.w = nn.Parameter(0.1 * torch.randn(1, 49, dim))"),
        (
            _PATCHES,
            "        assert image.shape[2:] == (28, 28)\n"
            f'        x = torch.einsum("bnp,cpd->bnd", {_CUT}, self.w)\n',
        ),
    ),
    "patches of a side, and an image that may be oblong": (
        ("image_size=32, patch_size=8,", "chw=(1, 28, 28), n_patches=7,"),
        (
            _EMBEDDING,
            "c, h, w = chw\n"
            "        assert h % n_patches == 0 and w % n_patches == 0\n"
            "        self.n, pixels = n_patches, (h // n_patches) * (w // n_patches)\n"
            "        self.patches = nn.Linear(c * pixels, dim)",
        ),
        ("(image_size // patch_size) ** 2", "n_patches**2"),
        (
            _PATCHES,
            "        high, wide = image.shape[2] // self.n, image.shape[3] // self.n\n"
            "        x = image.unfold(2, high, high).unfold(3, wide, wide).permute(0, 2, 3, 1, 4, 5)\n"
            "        x = self.patches(x.reshape(len(image), self.n**2, -1))\n",
        ),
    ),
}
NORM = """def normed(x, weight, bias, axis=1, eps=1e-6):
    mean = x.mean(axis, keepdim=True)
    spread = x.var(axis, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(spread + eps) * weight + bias


class Block"""
WRONG = {
    "slices that begin at i": (
        (
            (
                _EMBEDDING,
                "self.side, self.patches = image_size // patch_size, nn.Linear(3 * patch_size**2, dim)",
            ),
            (
                _PATCHES,
                "        p, found = int((self.patches.in_features // 3) ** 0.5), []\n"
                "        for i in range(self.side):\n"
                "            for j in range(self.side):\n"
                "                found.append(image[:, :, i:i + p, j:j + p].flatten(1))\n"
                "        x = self.patches(torch.stack(found, dim=1))\n",
            ),
        ),
        "patch-stride-missing",
        "image[:, :, i:i + p, j:j + p]",
    ),
    "an axis by default": (
        (
            ("class Block", NORM),
            (
                "self.attention(self.norm1(x))",
                "self.attention(normed(x, self.norm1.weight, self.norm1.bias))",
            ),
            ("self.mlp(self.norm2(x))", "self.mlp(normed(x, self.norm2.weight, self.norm2.bias))"),
        ),
        "layernorm-over-tokens",
        "axis=1",
    ),
    "a mask by default": (
        (
            (
                "class Block",
                "def attend(q, k, v, *, causal=True):\n"
                "    return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)\n\n\n"
                "class Block",
            ),
            ("        scores = q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5\n", ""),
            ("scores.softmax(-1) @ v", "attend(q, k, v)"),
        ),
        "causal-mask-added",
        "causal=True",
    ),
    "a word by default that nothing is called": (
        (
            ("class Block", 'ACTIVATIONS = {"gelu": nn.GELU}\n\n\nclass Block'),
            ("def __init__(self, dim, heads, mlp)", 'def __init__(self, dim, heads, mlp, activation="GELU")'),
            (_MADE, f"{_MADE}        self.activation = ACTIVATIONS.get(activation, nn.Identity)()\n"),
            ("nn.functional.gelu(self.fc1(x))", "self.activation(self.fc1(x))"),
        ),
        "activation-missing",
        'activation="GELU"',
    ),
    "a result that is thrown away": (
        (
            (
                "        return self.proj(context.transpose(1, 2).reshape(B, T, D))",
                "        merged = context.transpose(1, 2).reshape(B, T, D)\n"
                "        context = self.proj(merged)\n"
                "        return merged",
            ),
        ),
        "output-projection-missing",
        "return merged",
    ),
    "a table that is scaled when it is made": (
        (("2 + 1, dim))", "2 + 1, dim)) * 0.02"),),
        "pos-not-parameter",
        "* 0.02",
    ),
    "an image that is normalised in place": (
        (
            (
                "        x = self.patches(image)",
                "        image.sub_(0.5).div_(0.5)\n        x = self.patches(image)",
            ),
        ),
        "input-mutated-in-place",
        "image.sub_",
    ),
}


@pytest.mark.parametrize("way", RIGHT)
def test_right_programs_keep_all_points(way: str, tmp_path: Path, zygote: Zygote) -> None:
    demand_all_points(graded(zygote, tmp_path, *RIGHT[way]))


@pytest.mark.parametrize("way", WRONG)
def test_the_cause_is_told_on_its_line(way: str, tmp_path: Path, zygote: Zygote) -> None:
    edits, id, line = WRONG[way]
    result = graded(zygote, tmp_path, *edits)
    assert {one.id for one in result.mistakes} == {id}
    place = result.mistakes[0].location
    assert place is not None
    assert [line in one.text for one in place.excerpt if one.marked] == [True]


def test_a_mistake_of_the_whole_model_makes_no_stage_wrong(tmp_path: Path, zygote: Zygote) -> None:
    edits, *_ = WRONG["an image that is normalised in place"]
    assert not [
        one for one in graded(zygote, tmp_path, *edits).checks if "already wrong" in (one.message or "")
    ]


def test_one_mistake_at_a_parameter_costs_once(tmp_path: Path, zygote: Zygote) -> None:
    edits, *_ = WRONG["a table that is scaled when it is made"]
    (taken,) = [one for one in graded(zygote, tmp_path, *edits).notes if one.kind == "taken"]
    assert "major" in taken.text


def test_a_row_of_positions_that_no_token_gets_is_told(tmp_path: Path, zygote: Zygote) -> None:
    result = graded(zygote, tmp_path, (_TOKENS + _POSITIONS, f"        x = x + self.pos[:, 1:]\n{_TOKENS}"))
    (failed,) = [one for one in result.checks if one.outcome == "failed"]
    assert failed.message == "pos has a row for each token, but that of the class token is never used"


def test_what_its_own_call_alone_builds_fails_where_it_fails(tmp_path: Path, zygote: Zygote) -> None:
    edits = [
        ("num_classes=10", "labels"),
        (
            "image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128",
            "image_size, patch_size, dim, depth, heads, mlp",
        ),
        ("num_classes)", "len(labels))"),
        ("self.cls.expand(len(x), -1, -1)", "self.cls.repeat(1, len(x), 1)"),
    ]
    sizes = "image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, labels=['rose', 'tulip']"
    own = f'\n\nSETTINGS = eval("dict({sizes})")\n'
    made = f"{own}if __name__ == '__main__':\n    print(ViT(**SETTINGS)(torch.rand(1, 3, 32, 32)))\n"
    result = graded_file(edited(FINISHED, edits) + made, VIT, zygote, tmp_path)
    assert result.status == "graded"
    assert [one.message for one in result.checks if "Sizes of tensors must match" in (one.message or "")]
