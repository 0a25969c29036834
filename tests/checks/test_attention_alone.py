"""One attention head, and attention of a query, a key and a value, are judged before anything uses them."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_HEAD = """
import torch
from torch import nn

width = 64


class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(width, head_size, bias=False)
        self.query = nn.Linear(width, head_size, bias=False)
        self.value = nn.Linear(width, head_size, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        k, q, v = self.key(x), self.query(x), self.value(x)
        scores = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        weights = self.dropout(scores.softmax(dim=-1))
        return weights @ v
"""
_OF_WEIGHTS = """
import torch


def one_head(x, w_q, w_k, w_v):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    weights = torch.softmax(q @ k.mT / q.size(-1) ** 0.5, dim=-1)
    return weights @ v, weights
"""
_FUNCTION = """
import math
import torch


def scaled_dot_product_attention(k, q, v, mask=None, dropout_p=0.0):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ v, weights
"""
_OF_THREE_AXES = """
import torch
from torch import nn


class DotProductAttention(nn.Module):
    def __init__(self, dropout=0.1):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, mask):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / queries.shape[-1] ** 0.5
        self.weights = torch.softmax(scores, dim=2)
        return torch.bmm(self.dropout(self.weights), values)
"""
_OF_A_HEAD, _OF_A_PRODUCT = [1, *range(9, 15)], [1, 12, 13, 14]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (_HEAD, _OF_A_HEAD),
        (_OF_WEIGHTS, _OF_A_HEAD),
        (_FUNCTION, _OF_A_PRODUCT),
        (_OF_THREE_AXES, _OF_A_PRODUCT),
    ],
    ids=["a head", "a head of weights", "a function", "a class of three axes"],
)
def test_what_is_written_is_right(text: str, right: list[int], zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


@pytest.mark.parametrize(
    ("text", "edit", "id", "stage"),
    [
        (_HEAD, ("k.shape[-1] ** -0.5", "x.shape[-1] ** -0.5"), "scale-by-embed-dim", "S12"),
        (_HEAD, ("dim=-1", "dim=1"), "softmax-over-queries", "S13"),
        (_OF_WEIGHTS, (" / q.size(-1) ** 0.5", ""), "scale-missing", "S12"),
        (_OF_WEIGHTS, ("return weights @ v", "return weights @ k"), "context-uses-keys", "S14"),
        (_FUNCTION, ("math.sqrt(q.size(-1))", "q.size(-1)"), "scale-by-head-dim", "S12"),
        (_FUNCTION, ("return weights @ v", "return weights @ k"), "context-uses-keys", "S14"),
        (_OF_THREE_AXES, ("dim=2", "dim=1"), "softmax-over-queries", "S13"),
    ],
)
def test_a_mistake_is_told(
    text: str, edit: tuple[str, str], id: str, stage: str, zygote: Zygote, tmp_path: Path
) -> None:
    wrong = edited(text, [edit])
    result = graded_file(wrong, VIT, zygote, tmp_path)
    assert [(one.id, one.stage) for one in result.mistakes] == [(id, stage)]
    (found,) = result.mistakes
    assert found.location is not None
    assert wrong.split("\n")[found.location.line - 1] not in text.split("\n")


def test_heads_that_a_model_does_not_register_are_told_before_a_block_uses_them(
    zygote: Zygote, tmp_path: Path
) -> None:
    several = """

class MultiHead(nn.Module):
    def __init__(self, heads=4):
        super().__init__()
        self.heads = [Head(width // heads) for _ in range(heads)]
        self.out = nn.Linear(width, width)

    def forward(self, x):
        return self.out(torch.cat([head(x) for head in self.heads], dim=-1))
"""
    result = graded_file(_HEAD + several, VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["blocks-in-python-list"]


def test_a_random_step_of_a_part_is_told_at_its_stage(zygote: Zygote, tmp_path: Path) -> None:
    edit = ("self.dropout(scores.softmax(dim=-1))", "nn.functional.dropout(scores.softmax(dim=-1), 0.1)")
    result = graded_file(edited(_HEAD, [edit]), VIT, zygote, tmp_path)
    assert [(one.id, one.stage) for one in result.mistakes] == [("functional-dropout-always-on", "S13")]
