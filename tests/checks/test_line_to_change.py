"""A mistake is told on the line that has to change."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES, edited
from one_file import graded_file
from test_repairing import graded
from test_unfinished import FINISHED, VIT

from vitcheck.submissions.host.process import Zygote

LINES = (  # the base, what is right, what is written instead, what is told, and a part of its line
    ("library_mha", ", batch_first=True", "", "attention-over-batch-axis", "nn.MultiheadAttention("),
    ("handwritten_norm", ", unbiased=False", "", "layernorm-unbiased-variance", "var = x.var("),
    (
        "prenorm",
        "drop_rate) for _ in range(depth)]",
        "drop_rate)] * depth",
        "blocks-share-one-instance",
        "] * depth",
    ),
    (
        "prenorm",
        "x = x + self.attn(self.norm1(x))",
        "x = self.norm1(x)\n        x = x + self.attn(x)",
        "residual-from-normed-attn",
        "x = self.norm1(x)",
    ),
)


@pytest.mark.parametrize(("base", "right", "wrong", "id", "line"), LINES)
def test_a_mistake_is_told_on_the_line_that_has_to_change(
    tmp_path: Path, zygote: Zygote, base: str, right: str, wrong: str, id: str, line: str
) -> None:
    """And not on the one that runs what was made there, or completes what it spoils."""
    result = graded(tmp_path, zygote, BASES[base].source().replace(right, wrong, 1))
    first = result.mistakes[0]
    assert first.location is not None
    assert (first.id, [line in one.text for one in first.location.excerpt if one.marked]) == (id, [True])


_HALVES = """class Attend(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(dim), nn.MultiheadAttention(dim, heads, batch_first=True)

    def forward(self, x):
        x = self.norm(x)
        return self.attention(x, x, x)[0]


class Think(nn.Sequential):
    def __init__(self, dim, mlp):
        super().__init__(nn.LayerNorm(dim), nn.Linear(dim, mlp), nn.GELU(), nn.Linear(mlp, dim))


class Encoder(nn.Module):
    def __init__(self, dim, heads, mlp, depth):
        super().__init__()
        self.layers = nn.ModuleList([nn.ModuleList([Attend(dim, heads), Think(dim, mlp)])] * depth)

    def forward(self, x):
        for attend, think in self.layers:
            x = x + attend(x)
            x = x + think(x)
        return x


class ViT"""
_SUMS = (
    _HALVES[: _HALVES.index("class Encoder")]
    + """class Sum(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, x):
        return x + self.part(x)


class ViT"""
)
_ONE_HEAD = """class Head(nn.Module):
    def __init__(self, dim, width):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, width) for _ in range(3))

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(-2, -1) / self.q.out_features**0.5
        return scores.softmax(-1) @ self.v(x)


class Heads(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = nn.ModuleList([Head(dim, dim // heads)] * heads)
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        return self.out(torch.cat([head(x) for head in self.heads], dim=-1))


class ViT"""
_TABLE = """def table(tokens, dim):
    place = torch.arange(tokens).float()[:, None]
    steps = torch.exp(-torch.arange(0, dim // 2) * 9.210340371976184 / dim)
    found = torch.zeros(tokens, dim)
    found[:, 0::2], found[:, 1::2] = torch.sin(place * steps), torch.cos(place * steps)
    return found[None]


class ViT"""
FARTHER = {
    "a result that is thrown away": (
        (("x = self.patches(image).flatten(2).transpose(1, 2)", "x = self.cut(image)"),),
        "    def cut(self, image):\n        x = self.patches(image).flatten(2)\n"
        "        x.transpose(1, 2)\n        return x\n\n    def pooled",
        "x.transpose(1, 2)",
    ),
    "a plain list inside of what is registered": (
        (
            (
                "self.fc1, self.fc2 = nn.Linear(dim, mlp), nn.Linear(mlp, dim)",
                "self.fc = [nn.Linear(dim, mlp), nn.Linear(mlp, dim)]",
            ),
            ("self.fc2(nn.functional.gelu(self.fc1(x)))", "self.fc[1](nn.functional.gelu(self.fc[0](x)))"),
        ),
        "    def pooled",
        "self.fc = [",
    ),
    "every block reads the first one's input, in a sum of halves": (
        (
            ("class ViT", _SUMS),
            (
                "[Block(dim, heads, mlp) for",
                "[nn.Sequential(Sum(Attend(dim, heads)), Sum(Think(dim, mlp))) for",
            ),
            ("            x = block(x)\n", "            y = block(x)\n"),
            ("self.norm(x)))", "self.norm(y)))"),
        ),
        "    def pooled",
        "y = block(x)",
    ),
    "one head in every place of a list": (
        (
            ("class ViT", _ONE_HEAD),
            ("self.attention(self.norm1(x))", "self.attend(self.norm1(x))"),
            ("self.fc1, self.fc2 =", "self.attend = Heads(dim, heads)\n        self.fc1, self.fc2 ="),
        ),
        "    def pooled",
        "] * heads",
    ),
    "half of the frequencies of a table": (
        (
            (
                "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))",
                'self.register_buffer("pos", table((image_size // patch_size) ** 2 + 1, dim))',
            ),
            ("class ViT", _TABLE),
        ),
        "    def pooled",
        "steps = ",
    ),
    "one block, of which a loop calls the halves": (
        (
            ("class ViT", _HALVES),
            (
                "nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])",
                "Encoder(dim, heads, mlp, depth)",
            ),
            ("        for block in self.blocks:\n            x = block(x)\n", "        x = self.blocks(x)\n"),
        ),
        "    def pooled",
        "] * depth",
    ),
}


@pytest.mark.parametrize("slip", FARTHER)
def test_a_mistake_that_shows_elsewhere_is_told_where_it_is(
    slip: str, tmp_path: Path, zygote: Zygote
) -> None:
    edits, method, line = FARTHER[slip]
    program = edited(FINISHED, (*edits, ("    def pooled", method)))
    told = (one.location for one in graded(tmp_path, zygote, program).mistakes)
    marked = [one.text for place in told if place is not None for one in place.excerpt if one.marked]
    assert line in marked[0]


_ADD_AND_NORM = """
import torch
import torch.nn.functional as F
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, stream, branch):
        return self.norm(stream + branch)


class Block(nn.Module):
    def __init__(self, width, heads, hidden):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.first, self.second = AddNorm(width), AddNorm(width)

    def forward(self, x):
        x = self.first(x, self.attention(x, x, x)[0])
        x = self.first(x, self.down(F.gelu(self.up(x))))
        return x


class ViT(nn.Module):
    def __init__(self, side=32, patch=8, width=48, depth=3, heads=4, hidden=96, classes=10):
        super().__init__()
        self.embed = nn.Conv2d(3, width, patch, patch)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, (side // patch) ** 2 + 1, width))
        self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(depth))
        self.head = nn.Linear(width, classes)

    def forward(self, image):
        x = self.embed(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(len(x), -1, -1), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(x[:, 0])
"""


def test_a_layer_called_twice_is_told_where_another_should_be(tmp_path: Path, zygote: Zygote) -> None:
    """Either line could call the layer that is never used, and the first of them is right."""
    (first,) = graded_file(_ADD_AND_NORM, VIT, zygote, tmp_path).mistakes
    assert first.location is not None
    marked = [one.text for one in first.location.excerpt if one.marked]
    assert (first.id, ["self.down(" in one for one in marked]) == ("norm-reused-after-mlp", [True])


_BLOCKS_OF_A_SCRIPT = """
import torch
from torch import nn

image = torch.rand(2, 3, 32, 32)
x = nn.Conv2d(3, 48, 8, 8)(image).flatten(2).transpose(1, 2)
x = torch.cat([nn.Parameter(torch.zeros(1, 1, 48)).expand(2, 1, 48), x], 1)
x = x + nn.Parameter(torch.zeros(1, 17, 48))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(48), nn.LayerNorm(48)
        self.attention = nn.MultiheadAttention(48, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(48, 96), nn.GELU(), nn.Linear(96, 48))

    def forward(self, z):
        n = self.norm1(z)
        z = z + self.attention(n, n, n)[0]
        return z + self.mlp(self.norm2(z))


for block in nn.ModuleList([Block() for _ in range(3)]):
    out = block(x)
out = nn.LayerNorm(48)(out)
"""


def test_what_is_wrong_with_the_loop_of_a_script_is_told_there(tmp_path: Path, zygote: Zygote) -> None:
    (first,) = graded_file(_BLOCKS_OF_A_SCRIPT, VIT, zygote, tmp_path).mistakes
    assert first.location is not None
    marked = [one.text.strip() for one in first.location.excerpt if one.marked]
    assert (first.id, marked) == ("every-block-reads-first-input", ["out = block(x)"])
