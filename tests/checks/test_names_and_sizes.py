"""Right programs whose sizes are easily misread: weights of all blocks in one, lists of one kind of layer."""

from __future__ import annotations

from pathlib import Path

import pytest
from one_file import demand_all_points, graded_file, right_stages

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.submissions.host.process import Zygote

_STACKED = """
import torch
import torch.nn.functional as F
from torch import nn


class Digits(nn.Module):
    def __init__(self, p=7, d=48, h=4, L=4):
        super().__init__()
        self.p, self.d, self.h, self.L = p, d, h, L
        self.embed, self.out = nn.Linear(p * p, d), nn.Linear(d, 10)
        self.pos = nn.Parameter(torch.randn(1, (28 // p) ** 2, d) * 0.02)
        shapes = {"qkv": (d, 3 * d), "proj": (d, d), "up": (d, 4 * d), "down": (4 * d, d)}
        self.w = nn.ParameterDict({one: torch.randn(L, *shape) / d for one, shape in shapes.items()})
        self.b = nn.ParameterDict({one: torch.zeros(L, shape[1]) for one, shape in shapes.items()})
        self.gain = nn.Parameter(torch.ones(2 * L + 1, d))
        self.shift = nn.Parameter(torch.zeros(2 * L + 1, d))

    def norm(self, x, i):
        return F.layer_norm(x, (self.d,), self.gain[i], self.shift[i])

    def map(self, x, name, i):
        return x @ self.w[name][i] + self.b[name][i]

    def forward(self, image):
        x = image.squeeze(1).unfold(1, self.p, self.p).unfold(2, self.p, self.p)
        x = self.embed(x.reshape(len(image), -1, self.p**2)) + self.pos
        B, N, _ = x.shape
        for i in range(self.L):
            q, k, v = self.map(self.norm(x, 2 * i), "qkv", i).view(B, N, 3, self.h, -1).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(B, N, self.d)
            x = x + self.map(y, "proj", i)
            x = x + self.map(F.gelu(self.map(self.norm(x, 2 * i + 1), "up", i)), "down", i)
        return self.out(self.norm(x, -1).mean(1))
"""
_BY_KIND = """
import torch
from torch import nn

width, depth = 32, 2
cut = nn.Conv2d(1, width, 4, stride=4)
token, places = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.randn(1, 17, width) * 0.02)
norms1 = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)])
attentions = nn.ModuleList([nn.MultiheadAttention(width, 2, batch_first=True) for _ in range(depth)])
norms2 = nn.ModuleList([nn.LayerNorm(width) for _ in range(depth)])
mlps = nn.ModuleList(
    [nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width)) for _ in range(depth)]
)
last, head = nn.LayerNorm(width), nn.Linear(width, 4)
every = nn.ModuleList([cut, norms1, attentions, norms2, mlps, last, head])


def scores(x):
    x = cut(x).flatten(2).transpose(1, 2)
    x = torch.cat([token.expand(len(x), -1, -1), x], dim=1) + places
    for norm1, attention, norm2, mlp in zip(norms1, attentions, norms2, mlps):
        y = norm1(x)
        x = x + attention(y, y, y)[0]
        x = x + mlp(norm2(x))
    return head(last(x)[:, 0])


print(scores(torch.randn(8, 1, 16, 16)).shape)
"""
_WIDE_HEADS = """
import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, heads, dim_head):
        super().__init__()
        self.heads, self.scale = heads, dim_head**-0.5
        self.q, self.kv = nn.Linear(dim, heads * dim_head), nn.Linear(dim, 2 * heads * dim_head)
        self.norm, self.out = nn.LayerNorm(dim), nn.Linear(heads * dim_head, dim)

    def forward(self, x):
        x = self.norm(x)
        made = self.q(x), *self.kv(x).chunk(2, -1)
        q, k, v = (one.unflatten(-1, (self.heads, -1)).transpose(1, 2) for one in made)
        return self.out(((q * self.scale @ k.mT).softmax(-1) @ v).transpose(1, 2).flatten(2))


class Tags(nn.Module):
    def __init__(self, image=(64, 48), patch=8, dim=64, depth=3, heads=4, dim_head=16, tags=12):
        super().__init__()
        self.cut = nn.Unfold(patch, stride=patch)
        inputs = 3 * patch**2
        self.embed = nn.Sequential(nn.LayerNorm(inputs), nn.Linear(inputs, dim), nn.LayerNorm(dim))
        self.pos = nn.Parameter(torch.randn(image[0] // patch * (image[1] // patch), dim) * 0.02)
        self.attentions = nn.ModuleList(Attention(dim, heads, dim_head) for _ in range(depth))
        self.mlps = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
            for _ in range(depth)
        )
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, tags)

    def forward(self, image):
        x = self.embed(self.cut(image).transpose(1, 2)) + self.pos
        for attention, mlp in zip(self.attentions, self.mlps):
            x = x + attention(x)
            x = x + mlp(x)
        return self.head(self.norm(x).mean(1))
"""
_LAST_WITHOUT_PLACE = """
import torch
from torch import nn


class Rows(nn.Module):
    def __init__(self, side=32, patch=8, width=64, layers=4, heads=4, classes=100):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.row = nn.Parameter(0.02 * torch.randn(side // patch, 1, 1, width))
        self.column = nn.Parameter(0.02 * torch.randn(1, side // patch, 1, width))
        self.token = nn.Parameter(0.02 * torch.randn(1, 1, width))
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, image):
        x = self.patches(image).permute(2, 3, 0, 1) + self.row + self.column
        x = torch.cat([x.flatten(0, 1), self.token.expand(1, len(image), -1)])
        return self.head(self.layers(x)[-1])
"""
_SCORED = """
import torch
from torch import nn


class Scored(nn.Module):
    def __init__(self, side=32, patch=8, width=64, layers=4, heads=4, classes=100):
        super().__init__()
        self.patches = nn.Conv2d(3, width, patch, patch)
        self.places = nn.Parameter(0.02 * torch.randn(1, (side // patch) ** 2, width))
        layer = nn.TransformerEncoderLayer(
            width, heads, 4 * width, activation="gelu", norm_first=True, batch_first=True
        )
        self.layers = nn.TransformerEncoder(layer, layers, nn.LayerNorm(width), enable_nested_tensor=False)
        self.score, self.head = nn.Linear(width, 1), nn.Linear(width, classes)

    def forward(self, image):
        x = self.layers(self.patches(image).flatten(2).transpose(1, 2) + self.places)
        return self.head((self.score(x).softmax(dim=1) * x).sum(dim=1))
"""
# two tables of positions that are as long as a side has patches, of a side that has no name of its own
_TABLES = """
import torch
from torch import nn


class Tables(nn.Module):
    def __init__(self, size=32, p=8, d=64, depth=4, h=4, classes=10):
        super().__init__()
        self.p, self.grid = p, size // p
        self.project = nn.Linear(3 * p * p, d)
        self.row, self.column = (nn.Parameter(0.02 * torch.randn(self.grid, d)) for _ in range(2))
        self.token = nn.Parameter(0.02 * torch.randn(d))
        layer = nn.TransformerEncoderLayer(d, h, 4 * d, activation="gelu", norm_first=True, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, depth, nn.LayerNorm(d), enable_nested_tensor=False)
        self.head = nn.Linear(d, classes)

    def forward(self, image):
        cut = image.view(len(image), 3, self.grid, self.p, self.grid, self.p).permute(0, 2, 4, 1, 3, 5)
        x = self.project(cut.flatten(3)) + self.row[:, None] + self.column
        x = torch.cat([self.token.expand(len(x), 1, -1), x.flatten(1, 2)], dim=1)
        return self.head(self.layers(x)[:, 0])
"""
_RIGHT = {
    "positions of rows and of columns": _TABLES,
    "weights of all blocks in one, and letters": _STACKED,
    "layers by kind": _BY_KIND,
    "heads wider than tokens": _WIDE_HEADS,
    "class token last and without a place": _LAST_WITHOUT_PLACE,
    "tokens weighed by a layer": _SCORED,
}


@pytest.mark.parametrize("name", _RIGHT)
def test_a_right_program_gets_all_points(name: str, zygote: Zygote, tmp_path: Path) -> None:
    demand_all_points(graded_file(_RIGHT[name], load_assignment(DEFAULT), zygote, tmp_path))


def test_patches_numbered_by_their_side_are_wrong_whatever_the_grid(zygote: Zygote, tmp_path: Path) -> None:
    text = """
import torch
from torch import nn


def cut(image, p):
    rows, columns = image.shape[2] // p, image.shape[3] // p
    patches = torch.zeros(len(image), rows * columns, 3 * p * p)
    for i in range(rows):
        for j in range(columns):
            patches[:, i * p + j] = image[:, :, i * p : (i + 1) * p, j * p : (j + 1) * p].flatten(1)
    return patches


class Embedding(nn.Module):
    def __init__(self, side=32, p=4, width=64):
        super().__init__()
        self.p, self.map = p, nn.Linear(3 * p * p, width)
        self.places = nn.Parameter(torch.randn(1, (side // p) ** 2, width))

    def forward(self, image):
        return self.map(cut(image, self.p)) + self.places
"""
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert "failed" in [result.stages[one].status for one in ("S02", "S03", "S04")]


def test_of_a_letter_that_means_no_size_of_a_part_trying_tells_the_meaning(
    zygote: Zygote, tmp_path: Path
) -> None:
    text = """
import torch
from torch import nn


class MLP(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.up, self.down = nn.Linear(d, h), nn.Linear(h, d)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))


class Attention(nn.Module):
    def forward(self, x): ...
"""
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, 17, 18])
