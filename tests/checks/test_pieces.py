"""Pieces of a model before there is one: what they show is judged, and what is to come is no mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_EMBEDDING = """
import torch


def windows(img, s):
    b, c, h, w = img.shape
    x = img.reshape(b, c, h // s, s, w // s, s)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(b, -1, c * s * s)


def embed(img, held, s):
    x = windows(img, s) @ held["kernel"] + held["kernel_b"]
    first = held["cls"].expand(len(x), 1, -1)
    return torch.cat([first, x], dim=1) + held["pos"]


def classify(x, held):
    ...
"""
_HEAD = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, dim, classes):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, tokens):
        return self.out(self.norm(tokens)[:, 0])


class ViT(nn.Module):
    def __init__(self, dim=48, classes=10):
        super().__init__()
        self.embed = nn.Identity()  # TODO
        self.blocks = nn.Identity()  # TODO
        self.head = Head(dim, classes)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)))
"""
_SUBLAYER = """
import torch
import torch.nn.functional as F


def norm(x, w, b, eps=1e-6):
    d = x - x.mean(-1, keepdim=True)
    return d * torch.rsqrt(d.square().mean(-1, keepdim=True) + eps) * w + b


def mlp_part(x, ln_w, ln_b, w1, b1, w2, b2):
    h = F.gelu(norm(x, ln_w, ln_b) @ w1.t() + b1)
    return x + (h @ w2.t() + b2)


def attention_part(x, *weights):
    return x  # later
"""
_NOT_ADDED = """
import torch
from torch import nn

x = torch.randn(3, 26, 40)
norm1, norm2 = nn.LayerNorm(40), nn.LayerNorm(40)
attend = nn.MultiheadAttention(40, 5)
z = norm1(x).transpose(0, 1)
a, _ = attend(z, z, z)
x = x + a.transpose(0, 1)
up, down = nn.Linear(40, 160), nn.Linear(160, 40)
m = down(nn.functional.gelu(up(norm2(x))))
"""
_NOT_PROJECTED = """
import torch

x = torch.randn(2, 10, 24)
gain = torch.ones(24, requires_grad=True)
shift = torch.zeros(24, requires_grad=True)
n = (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-6) * gain + shift
w_q, w_k, w_v = (torch.randn(3, 24, 8) / 5 for _ in range(3))
found = []
for one in range(3):
    s = torch.bmm(n @ w_q[one], (n @ w_k[one]).transpose(1, 2)) / 8**0.5
    found.append(s.softmax(-1) @ (n @ w_v[one]))
together = torch.cat(found, -1)
# w_o = ...
"""


_WEIGHTS_ONLY = """
import torch
from torch import nn


class Atencion(nn.Module):
    def __init__(self, dim, cabezas):
        super().__init__()
        self.cabezas = cabezas
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.salida = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (f(x).view(b, n, self.cabezas, -1).transpose(1, 2) for f in (self.q, self.k, self.v))
        pesos = (q @ k.mT / (d // self.cabezas) ** 0.5).softmax(-1)
        # TODO: valores, unir cabezas, salida
        return pesos
"""
_LOOKED_AT = _WEIGHTS_ONLY.replace(
    """        # TODO: valores, unir cabezas, salida
        return pesos
""",
    """        mixed = pesos @ v
        return mixed

        return self.salida(mixed.transpose(1, 2).reshape(b, n, d))
""",
)
_FIELDS = """
import dataclasses
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Map(NamedTuple):
    w: Tensor
    b: Tensor


@dataclasses.dataclass(frozen=True)
class Held:
    first: Tensor
    qkv: Map
    out: Map
    second: Tensor
    up: Map
    down: Map


def line(ins, outs):
    return Map(torch.randn(ins, outs) * ins**-0.5, torch.zeros(outs))


def draw(dim, hidden):
    ones = torch.ones(dim)
    return Held(ones, line(dim, 3 * dim), line(dim, dim), ones.clone(), line(dim, hidden), line(hidden, dim))


def through(x, one):
    return x @ one.w + one.b


def attend(x, held, heads):
    b, n, d = x.shape
    q, k, v = through(x, held.qkv).view(b, n, 3, heads, -1).permute(2, 0, 3, 1, 4)
    return through(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, d), held.out)


def layer(x, held, heads):
    d = x.shape[-1]
    x = x + attend(F.layer_norm(x, (d,), held.first), held, heads)
    return x + through(F.gelu(through(F.layer_norm(x, (d,), held.second), held.up)), held.down)


def encoder(x, layers, heads):
    raise NotImplementedError
"""
_BY_KEY = """
import torch


def line(x, held, name):
    return x @ held[name + "_w"] + held[name + "_b"]


def split(x, heads):
    b, n, d = x.shape
    return x.reshape(b, n, heads, d // heads).permute(0, 2, 1, 3)


def attention(x, held, heads):
    q, k, v = (split(line(x, held, name), heads) for name in ("q", "k", "v"))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    raise NotImplementedError


def make(patch=4, channels=3, width=64):
    held = {"cut_w": torch.randn(channels * patch**2, width), "cut_b": torch.zeros(width)}
    for name in "qkv":
        held[name + "_w"], held[name + "_b"] = torch.randn(width, width), torch.zeros(width)
    return held


x = torch.randn(2, 65, 64)
print(x.mean(), line(x, make(), "q").shape)
"""


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_EMBEDDING, [*range(1, 8)], id="an embedding with its weights in a dictionary"),
        pytest.param(_HEAD, [1, *range(23, 27)], id="a head"),
        pytest.param(_SUBLAYER, [1, 17, 18], id="an MLP with its norm and residual"),
        pytest.param(_NOT_ADDED, [1, *range(8, 19)], id="an MLP that is to be added yet"),
        pytest.param(_NOT_PROJECTED, [1, *range(8, 15)], id="heads that are to be projected yet"),
        pytest.param(_WEIGHTS_ONLY, [1, *range(9, 14)], id="attention that returns its weights so far"),
        pytest.param(_LOOKED_AT, [1, *range(9, 15)], id="a return before the rest"),
        pytest.param(_FIELDS, [1, *range(8, 21)], id="weights in named tuples and data classes"),
        pytest.param(_BY_KEY, [1, *range(9, 13)], id="scores, and a script that tries less"),
    ],
)
def test_nothing_wrong_is_found(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


_TWICE = """
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cut = nn.Conv2d(3, 24, 4, 4, bias=False)
        self.first = nn.Parameter(torch.randn(1, 1, 24))
        self.places = nn.Parameter(torch.randn(1, 65, 24))
        kind = dict(dropout=0.0, activation="gelu", batch_first=True, norm_first=True)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(24, 3, 96, **kind) for _ in range(3))

    def forward(self, images):
        x = self.cut(images).flatten(2).mT
        x = torch.cat([self.first.expand(len(x), -1, -1), x], dim=1) + self.places
        for layer in self.layers:
            x = layer(x)
        return x  # TODO: the last norm, the class token, the scores
"""
_TABLE = """
import math

import torch
from torch import nn

img = torch.rand(2, 3, 32, 32)
x = nn.Linear(48, 40)(img.unfold(2, 4, 4).unfold(3, 4, 4).permute(0, 2, 3, 1, 4, 5).reshape(2, 64, 48))
x = torch.cat([nn.Parameter(torch.rand(1, 1, 40)).expand(2, 1, 40), x], 1)
table = torch.zeros(65, 40)
for row in range(65):
    for column in range(0, 40, 2):
        angle = row / 10000 ** (column / 40)
        table[row, column] = math.sin(angle)
        table[row, column + 1] = math.cos(angle)
x = x + table
"""


@pytest.mark.parametrize(
    ("text", "edit", "id"),
    [
        pytest.param(
            _EMBEDDING,
            (
                "reshape(b, c, h // s, s, w // s, s)\n    return x.permute(0, 2, 4, 1, 3, 5)",
                "reshape(b, c, -1, s, s)\n    return x.transpose(1, 2)",
            ),
            "patch-view-whole-image",
            id="embedding",
        ),
        pytest.param(_HEAD, ("[:, 0]", "[:, -1]"), "readout-last-token", id="head"),
        pytest.param(_NOT_ADDED, ("x = x + a", "x = a"), "residual-attn-missing", id="not added"),
        pytest.param(_NOT_PROJECTED, ("softmax(-1)", "softmax(1)"), "softmax-over-queries", id="heads"),
        pytest.param(_TWICE, (".mT\n", ".mT + self.places[:, 1:]\n"), "pos-added-twice", id="twice"),
        pytest.param(_TABLE, ("math.cos", "math.sin"), "sinusoid-wrong-frequencies", id="table"),
    ],
)
def test_a_mistake_is_told(text: str, edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(text, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]


# an encoder before which nothing is written yet
_ENCODER = """
import torch
from torch import nn


class Mlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up, self.down, self.act = nn.Linear(dim, dim * 4), nn.Linear(dim * 4, dim), nn.GELU()

    def forward(self, x):
        return self.down(self.act(self.up(x)))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.mlp = Mlp(dim)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)

    def forward(self, x):
        h = self.ln1(x)
        x = x + self.attn(h, h, h)[0]
        x = x + self.mlp(self.ln2(x))
        return x


class ViT(nn.Module):
    def __init__(self, dim=48, heads=6, depth=3):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])

    def forward(self, image):
        x = self.tokens(image)  # patches, class token, positions
        for block in self.blocks:
            x = block(x)
        return x
"""


def test_what_a_part_leaves_out_is_left_out_where_its_pieces_meet(zygote: Zygote, tmp_path: Path) -> None:
    wrong = edited(_ENCODER, [("x = x + self.mlp(self.ln2(x))", "x = self.mlp(self.ln2(x))")])
    (mistake,) = graded_file(wrong, VIT, zygote, tmp_path).mistakes
    assert (mistake.id, mistake.location is not None) == ("residual-mlp-missing", True)
    assert mistake.location is not None
    assert wrong.splitlines()[mistake.location.line - 1].strip() == "x = self.mlp(self.ln2(x))"
