"""Programs of other hands: right ones lose no point, and of wrong ones the cause is told, on its line."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_file import demand_all_points
from test_unfinished import FINISHED, graded

from vitcheck.submissions.host.process import Zygote

_CONSTRUCTOR = "image_size=32, patch_size=8, dim=64, depth=4, heads=4, mlp=128, num_classes=10"
_PATCHES = "        x = self.patches(image).flatten(2).transpose(1, 2)\n"
_TOKENS = "        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)\n"
_TABLE = "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))"
_POSITIONS = "        x = x + self.pos\n"
_BLOCK = FINISHED[FINISHED.index("        x = x + self.attention(") : FINISHED.index("class ViT")]
_MADE = "self.proj, self.heads = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim), heads\n"
_LIST = "self.blocks = nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])"
_FIXED = (
    ("self, " + _CONSTRUCTOR, "self"),
    (
        "        self.patches = nn.Conv2d(3,",
        "        image_size, patch_size, dim, depth, heads, mlp, num_classes = 32, 8, 64, 4, 4, 128, 10\n"
        "        self.patches = nn.Conv2d(3,",
    ),
)
_SINUSOIDS = """def sinusoids(rows, dim):
    angles = torch.arange(rows)[:, None] * 10000 ** (-torch.arange(0, dim, 2) / dim)
    return torch.stack([angles.sin(), angles.cos()], 2).flatten(1)


class ViT"""
_DROP_PATH = (
    (
        "class Block",
        """class DropPath(nn.Module):
    def __init__(self, rate):
        super().__init__()
        self.rate_of_dropping = rate

    def forward(self, x):
        if not self.training:
            return x
        keep = 1 - self.rate_of_dropping
        return x * torch.empty(len(x), 1, 1, dtype=x.dtype).bernoulli_(keep) / keep


class Block""",
    ),
    (_MADE, f"{_MADE}        self.drop = DropPath(0.1)\n"),
)
_DROPS_A_BRANCH = """        x = x + self.drop(self.attention(self.norm1(x)))
        return x + self.drop(self.mlp(self.norm2(x)))


"""
_DROPS_ALL = """        x = self.drop(x + self.attention(self.norm1(x)))
        return self.drop(x + self.mlp(self.norm2(x)))


"""
_WRITTEN_OUT = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(48, 12), nn.Linear(48, 12), nn.Linear(48, 12)

    def forward(self, x):
        scores = torch.bmm(self.q(x), self.k(x).permute(0, 2, 1)) / 12**0.5
        return torch.bmm(scores.softmax(dim=2), self.v(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(49, 48)
        self.cls, self.pos = nn.Parameter(torch.rand(1, 48)), nn.Parameter(torch.rand(17, 48))
        self.norm1a, self.norm1b, self.out1 = nn.LayerNorm(48), nn.LayerNorm(48), nn.Linear(48, 48)
        self.h1, self.h2, self.h3, self.h4 = Head(), Head(), Head(), Head()
        self.fc1a, self.fc1b = nn.Linear(48, 192), nn.Linear(192, 48)
        self.norm2a, self.norm2b, self.out2 = nn.LayerNorm(48), nn.LayerNorm(48), nn.Linear(48, 48)
        self.h5, self.h6, self.h7, self.h8 = Head(), Head(), Head(), Head()
        self.fc2a, self.fc2b = nn.Linear(48, 192), nn.Linear(192, 48)
        self.last, self.head, self.gelu = nn.LayerNorm(48), nn.Linear(48, 10), nn.GELU()

    def forward(self, image):
        patches = torch.zeros(len(image), 16, 49)
        for row in range(4):
            for column in range(4):
                patch = image[:, 0, row * 7 : row * 7 + 7, column * 7 : column * 7 + 7]
                patches[:, 4 * row + column] = patch.reshape(len(image), 49)
        x = torch.cat((self.cls.repeat(len(image), 1, 1), self.embed(patches)), 1) + self.pos
        y = self.norm1a(x)
        x = x + self.out1(torch.cat((self.h1(y), self.h2(y), self.h3(y), self.h4(y)), 2))
        x = x + self.fc1b(self.gelu(self.fc1a(self.norm1b(x))))
        y = self.norm2a(x)
        x = x + self.out2(torch.cat((self.h5(y), self.h6(y), self.h7(y), self.h8(y)), 2))
        x = x + self.fc2b(self.gelu(self.fc2a(self.norm2b(x))))
        return self.head(self.last(x[:, 0]))
"""

RIGHT = {
    "heads and blocks that are written out": ((FINISHED, _WRITTEN_OUT),),
    "one linear layer for patch after patch": (
        ("nn.Conv2d(3, dim, patch_size, patch_size)", "nn.Linear(3 * 8 * 8, dim)"),
        (
            _PATCHES,
            "        places = [(row, column) for row in range(4) for column in range(4)]\n"
            "        cut = [image[:, :, 8 * r : 8 * r + 8, 8 * c : 8 * c + 8] for r, c in places]\n"
            "        x = torch.cat([self.patches(one.reshape(len(image), 1, -1)) for one in cut], dim=1)\n",
        ),
    ),
    "a map of positions for an image whose side has a foreign name": (
        ("image_size=32", "lado=64"),
        (_TABLE, "self.pos = nn.Parameter(torch.zeros(1, dim, lado // patch_size, lado // patch_size))"),
        (_PATCHES, "        x = (self.patches(image) + self.pos).flatten(2).transpose(1, 2)\n"),
        (_POSITIONS, ""),
    ),
    "a map of positions for one size of image and any of patches": (
        ("image_size=32, ", ""),
        (_TABLE, "self.pos = nn.Parameter(torch.zeros(1, dim, 64 // patch_size, 64 // patch_size))"),
        (_PATCHES, "        x = (self.patches(image) + self.pos).flatten(2).transpose(1, 2)\n"),
        (_POSITIONS, ""),
    ),
    "positions for a longer sequence than any": (
        *_FIXED,
        (_TABLE, 'self.register_buffer("pos", sinusoids(1024, dim))'),
        (_POSITIONS, "        x = x + self.pos[: x.shape[1]]\n"),
        ("class ViT", _SINUSOIDS),
    ),
    "sinusoids times a constant": (
        (_TABLE, 'self.register_buffer("pos", sinusoids((image_size // patch_size) ** 2 + 1, dim))'),
        (_POSITIONS, "        x = x + 0.5 * self.pos\n"),
        ("class ViT", _SINUSOIDS),
    ),
    "an own norm whose eps nobody else takes": (
        (
            "class Block",
            """class Norm(nn.Module):
    def __init__(self, dim, eps=1e-10):
        super().__init__()
        self.gain, self.shift, self.eps = nn.Parameter(torch.ones(dim)), nn.Parameter(torch.zeros(dim)), eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.gain * x / torch.sqrt(x.square().mean(-1, keepdim=True) + self.eps) + self.shift


class Block""",
        ),
        (
            "self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)",
            "self.norm1, self.norm2 = Norm(dim), Norm(dim)",
        ),
    ),
    "the cosine before the sine": (
        (_TABLE, 'self.register_buffer("pos", sinusoids((image_size // patch_size) ** 2 + 1, dim))'),
        ("class ViT", _SINUSOIDS.replace("[angles.sin(), angles.cos()]", "[angles.cos(), angles.sin()]")),
    ),
    "pixels that a table of indices gathers, and as many classes as a grid and a token": (
        *_FIXED,
        ("nn.Conv2d(3, dim, patch_size, patch_size)", "nn.Linear(3 * 8 * 8, dim)"),
        (
            _TABLE,
            f"{_TABLE}\n"
            "        numbers = torch.arange(3 * 32 * 32).float().reshape(1, 3, 32, 32)\n"
            "        table = nn.functional.unfold(numbers, 8, stride=8)[0].t().long()\n"
            '        self.register_buffer("table", table)',
        ),
        (_PATCHES, "        x = self.patches(image.flatten(1)[:, self.table])\n"),
    ),
    "stochastic depth of the branches": (*_DROP_PATH, (_BLOCK, _DROPS_A_BRANCH)),
}


@pytest.mark.parametrize("way", RIGHT)
def test_right_programs_keep_all_points(way: str, tmp_path: Path, zygote: Zygote) -> None:
    demand_all_points(graded(zygote, tmp_path, *RIGHT[way]))


WRONG = {
    "stochastic depth that scales nothing": (
        (
            (_DROP_PATH[0][0], _DROP_PATH[0][1].replace(" / keep", "")),
            _DROP_PATH[1],
            (_BLOCK, _DROPS_A_BRANCH),
        ),
        "dropped-not-rescaled",
        ".bernoulli_(keep)",
    ),
    "stochastic depth of the sum": (
        (*_DROP_PATH, (_BLOCK, _DROPS_ALL)),
        "drop-path-on-stream",
        "self.drop(x + self.attention(",
    ),
    "weights that a function fills with zeros from outside": (
        (
            (
                "class ViT",
                "def fill(module):\n"
                "    if isinstance(module, nn.Linear):\n"
                "        nn.init.zeros_(module.weight)\n\n\n"
                "def build():\n"
                "    model = ViT()\n"
                "    model.apply(fill)\n"
                "    return model\n\n\nclass ViT",
            ),
        ),
        "init-constant-or-zero",
        "zeros_(module.weight)",
    ),
    "dropout in layers that are not registered": (
        (
            (_LIST, "self.blocks = [Block(dim, heads, mlp) for _ in range(depth)]"),
            (_MADE, f"{_MADE}        self.drop = nn.Dropout(0.1)\n"),
            ("scores.softmax(-1)", "self.drop(scores.softmax(-1))"),
        ),
        "blocks-in-python-list",
        "self.blocks = [",
    ),
    "a table that each pass scales": (
        (
            (_TABLE, _TABLE.replace("zeros", "randn")),
            (_POSITIONS, f"        self.pos.data *= 0.5\n{_POSITIONS}"),
        ),
        "state-leak",
        "self.pos.data *= 0.5",
    ),
    "a table of rows that are as long as columns": (
        (
            (_TABLE, 'self.register_buffer("pos", in_two(image_size // patch_size, dim))'),
            (_TOKENS + _POSITIONS, "        x = x + self.pos\n" + _TOKENS),
            (
                "class ViT",
                _SINUSOIDS.replace(
                    "class ViT",
                    "def in_two(side, dim):\n"
                    "    place = torch.arange(side**2)\n"
                    "    table = sinusoids(side, dim // 2)\n"
                    "    return torch.cat([table[place // side], table[place // side]], 1)\n\n\nclass ViT",
                ),
            ),
        ),
        "sinusoid-wrong-frequencies",
        "place // side",
    ),
    "patches that are split the other way, under a norm": (
        (
            ("import torch\n", "import torch\nfrom einops.layers.torch import Rearrange\n"),
            (
                "self.patches = nn.Conv2d(3, dim, patch_size, patch_size)",
                "self.patches = nn.Sequential(\n"
                '            Rearrange("b c (p1 h) (p2 w) -> b (h w) (p1 p2 c)", p1=patch_size,'
                " p2=patch_size),\n"
                "            nn.LayerNorm(3 * patch_size**2),\n"
                "            nn.Linear(3 * patch_size**2, dim),\n"
                "        )",
            ),
            (_PATCHES, "        x = self.patches(image)\n"),
        ),
        "strided-pixel-patches",
        "Rearrange(",
    ),
}


@pytest.mark.parametrize("way", WRONG)
def test_the_cause_is_told_alone_and_on_its_line(way: str, tmp_path: Path, zygote: Zygote) -> None:
    edits, id, line = WRONG[way]
    (mistake,) = graded(zygote, tmp_path, *edits).mistakes
    assert mistake.location is not None
    assert mistake.id == id
    assert [line in one.text for one in mistake.location.excerpt if one.marked] == [True]
