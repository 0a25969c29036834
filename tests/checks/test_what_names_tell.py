"""Which of two maps is the query's, where values cannot tell: names do, of layers, variables and weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.submissions.host.process import Zygote

_HEADS = """
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.key, self.query, self.value = (nn.Linear(dim, size, bias=False) for _ in range(3))

    def forward(self, x):
        k, q = self.key(x), self.query(x)
        scores = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        return scores.softmax(dim=-1) @ self.value(x)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = nn.ModuleList(Head(dim, dim // heads) for _ in range(heads))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        return self.out(torch.cat([head(x) for head in self.heads], dim=-1))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, image_size=32, patch_size=8, dim=64, depth=3, heads=4, num_classes=10):
        super().__init__()
        self.patches = nn.Conv2d(3, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, 1 + (image_size // patch_size) ** 2, dim) * 0.02)
        self.blocks = nn.Sequential(*[Block(dim, heads) for _ in range(depth)])
        self.norm, self.head = nn.LayerNorm(dim), nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1) + self.pos
        return self.head(self.norm(self.blocks(x))[:, 0])
"""


@pytest.mark.parametrize(
    ("edits", "ids"),
    [
        ([], []),
        ([("softmax(dim=-1)", "softmax(dim=1)")], ["softmax-over-queries"]),
        ([("scores.softmax(dim=-1) @", "scores.softmax(dim=-1).mT @")], ["probs-transposed"]),
    ],
)
def test_a_key_that_comes_first_is_a_key_by_its_name(
    edits: list[tuple[str, str]], ids: list[str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(edited(_HEADS, edits), load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes if one.kind == "error"] == ids


_PACKED = """class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        cut = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads)
        q, k, v = cut.permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) * (D // self.heads) ** -0.5
        return self.out((scores.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, T, D))
"""
_OF_ONE_MAP = _HEADS[: _HEADS.index("class Head(")] + _PACKED + _HEADS[_HEADS.index("\n\nclass Block(") :]


@pytest.mark.parametrize(
    ("edits", "ids"),
    [
        ([], []),
        ([("q, k, v =", "k, q, v =")], []),
        ([("q, k, v =", "v, k, q =")], []),
        ([("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)")], ["kq-transposed"]),
        (
            [("q @ k.transpose(-2, -1)", "torch.einsum('bhid,bhjd->bhji', q, k)")],
            ["kq-transposed"],
        ),
        ([("q, k, v", "one, two, v"), ("q @ k.transpose", "two @ one.transpose")], []),  # as good as any
        (
            [
                ("scores = q @ k.transpose(-2, -1)", "k = k / D\n        scores = k @ q.mT * D"),
            ],
            ["kq-transposed"],
        ),
    ],
)
def test_of_one_map_for_all_three_variables_tell_which_is_the_query(
    edits: list[tuple[str, str]], ids: list[str], zygote: Zygote, tmp_path: Path
) -> None:
    text = edited(_OF_ONE_MAP, edits)
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes if one.kind == "error"] == ids
    for one in result.mistakes:
        if one.kind == "error":
            assert one.location is not None
            assert "scores =" in text.split("\n")[one.location.line - 1]


_FUNCTIONS = """
import torch
import torch.nn.functional as F

D, HEADS, PATCH = 24, 3, 4


def cut(image):
    rows = F.unfold(image, PATCH, stride=PATCH).transpose(1, 2)
    return rows


def attention(x, w):
    B, T, _ = x.shape
    q, k, v = ((x @ w[name]).reshape(B, T, HEADS, D // HEADS).transpose(1, 2) for name in ("wq", "wk", "wv"))
    scores = q @ k.transpose(-2, -1) / (D // HEADS) ** 0.5
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w["wo"]


def main():
    image = torch.randn(2, 3, 12, 12)
    w = {name: torch.randn(D, D) / D**0.5 for name in ("wq", "wk", "wv", "wo")}
    cls, pos, w_patch = torch.randn(1, 1, D), torch.randn(1, 10, D), torch.randn(3 * PATCH**2, D)
    x = torch.cat([cls.expand(2, -1, -1), cut(image) @ w_patch], dim=1) + pos
    print(x.shape)
    x = x + attention(F.layer_norm(x, (D,)), w)
    print(x.shape)


main()
"""


@pytest.mark.parametrize(
    ("edits", "ids"),
    [([], []), ([("q @ k.transpose(-2, -1)", "k @ q.transpose(-2, -1)")], ["kq-transposed"])],
)
def test_weights_of_a_script_are_called_as_in_its_dictionaries(
    edits: list[tuple[str, str]], ids: list[str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(edited(_FUNCTIONS, edits), load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes if one.kind == "error"] == ids
