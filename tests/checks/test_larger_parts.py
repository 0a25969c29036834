"""Patches, attention, a stack of blocks, a head, and both of these: each is judged by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import FINISHED, VIT

from vitcheck.checks.record.faults import to_write
from vitcheck.submissions.host.process import Zygote

_BLOCK = FINISHED[: FINISHED.index("class ViT")]
_STACK = f"""{_BLOCK}
class Encoder(nn.Module):
    def __init__(self, dim=64, depth=4, heads=4, mlp=128):
        super().__init__()
        self.blocks = nn.ModuleList([Block(dim, heads, mlp) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.norm(x)
"""
_HEAD = """

class ClassificationHead(nn.Module):
    def __init__(self, dim=64, classes=10):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(dim), nn.Linear(dim, classes)

    def forward(self, x):
        return self.linear(self.norm(x)[:, 0])
"""
# names that say nothing, of which the student's own values tell most
_NAMELESS = [
    ("dim=64, depth=4, heads=4, mlp=128", "anzahl=6, breite=80, koepfe=5, verborgen=160"),
    (
        "Block(dim, heads, mlp) for _ in range(depth)",
        "Block(breite, koepfe, verborgen) for _ in range(anzahl)",
    ),
    ("self.norm = nn.LayerNorm(dim)", "self.norm = nn.LayerNorm(breite)"),
]
_SHARED = ("[Block(dim, heads, mlp) for _ in range(depth)]", "[Block(dim, heads, mlp)] * depth")


@pytest.mark.parametrize(
    ("text", "right"),
    [
        (_STACK, [1, *range(8, 24)]),
        (edited(_STACK, _NAMELESS), [1, *range(8, 24)]),
        (_STACK.replace("return self.norm(x)", "return x"), [1, *range(8, 23)]),
        (_STACK + _HEAD, [1, *range(8, 27)]),
        ("import torch\nfrom torch import nn\n" + _HEAD, [1, 23, 24, 25, 26]),
        (
            "import torch\nfrom torch import nn\n" + _HEAD.replace("self.norm(x)[:, 0]", "self.norm(x)"),
            [1, 25, 26],
        ),
    ],
    ids=[
        "a stack",
        "a stack without names",
        "a stack without a norm",
        "both",
        "a head",
        "a head of one vector",
    ],
)
def test_what_is_written_is_right_and_nothing_else(
    text: str, right: list[int], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert result.mistakes == []
    assert right_stages(result) == right
    assert to_write(result) == [f"S{number:02}" for number in range(1, 27) if number not in right]


def test_a_stack_is_judged_beside_a_model_that_holds_nothing_else_yet(zygote: Zygote, tmp_path: Path) -> None:
    begun = """

class ViT(nn.Module):
    def __init__(self, image_size, patch_size, dim, num_classes):
        super().__init__()
        self.encoder = Encoder(dim)

    def forward(self, x):
        raise NotImplementedError
"""
    result = graded_file(_STACK + begun, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, *range(8, 24)])


def test_a_class_token_and_positions_in_one_are_right(zygote: Zygote, tmp_path: Path) -> None:
    text = """
import torch
from torch import nn


class TokenAndPositions(nn.Module):
    def __init__(self, patches=49, dim=32):
        super().__init__()
        self.token = nn.Parameter(torch.empty(1, 1, dim))
        self.place = nn.Parameter(torch.empty(1, 1 + patches, dim))

    def forward(self, x):
        return torch.cat([self.token.expand(len(x), -1, -1), x], dim=1) + self.place
"""
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, 5, 6, 7])


def test_a_single_head_is_no_classification_head(zygote: Zygote, tmp_path: Path) -> None:
    text = """
import torch
from torch import nn


class ViTAttentionHead(nn.Module):
    def __init__(self, dim=64, size=16):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, size), nn.Linear(dim, size), nn.Linear(dim, size)

    def forward(self, x):
        return (self.q(x) @ self.k(x).mT / self.q.out_features**0.5).softmax(-1) @ self.v(x)
"""
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, *range(9, 15)])


@pytest.mark.parametrize(
    ("edit", "id", "stage"),
    [
        (_SHARED, "blocks-share-one-instance", "S21"),
        (("in self.blocks:", "in self.blocks[:-1]:"), "depth-off-by-one", "S22"),
        (("x = block(x)\n", "y = block(x)\n        x = y\n"), "every-block-reads-first-input", "S21"),
        (("self.norm(x)[:, 0]", "self.norm(x)[:, -1]"), "readout-last-token", "S24"),
    ],
)
def test_a_mistake_in_one_is_told(
    edit: tuple[str, str], id: str, stage: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(edited(_STACK + _HEAD, [edit]), VIT, zygote, tmp_path)
    assert [(one.id, one.stage) for one in result.mistakes] == [(id, stage)]


_PATCHES = """
import torch
from torch import nn


def split_into_patches(img, p):
    B, C, H, W = img.shape
    x = img.reshape(B, C, H // p, p, W // p, p)
    return x.permute(0, 2, 4, 1, 3, 5).reshape(B, -1, C * p * p)
"""
_UNFOLDING = """
from torch import nn


class Patchify(nn.Module):
    def __init__(self, patch_size=16):
        super().__init__()
        self.unfold = nn.Unfold(patch_size, stride=patch_size)

    def forward(self, x):
        return self.unfold(x).transpose(1, 2)
"""


@pytest.mark.parametrize("text", [_PATCHES, _UNFOLDING], ids=["a function", "a class"])
def test_patches_are_judged_before_anything_maps_them(text: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], [1, 2, 3])


@pytest.mark.parametrize(
    ("text", "edit", "id"),
    [
        (_PATCHES, ("x.permute(0, 2, 4, 1, 3, 5)", "x"), "patch-view-whole-image"),
        (_PATCHES, ("permute(0, 2, 4, 1, 3, 5)", "permute(0, 2, 3, 4, 5, 1)"), "patch-axes-mixed"),
        (
            _UNFOLDING,
            (".transpose(1, 2)", ".reshape(len(x), -1, 3 * self.unfold.stride**2)"),
            "unfold-reshape-not-transpose",
        ),
    ],
)
def test_patches_that_are_cut_wrongly_are_told(
    text: str, edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(edited(text, [edit]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == [id]


# as in chapter 11 of a well-known book: widths are those of the first input
_LAZY = """
import torch
from torch import nn


class ViTMLP(nn.Module):
    def __init__(self, hidden, outputs):
        super().__init__()
        self.dense1, self.dense2 = nn.LazyLinear(hidden), nn.LazyLinear(outputs)

    def forward(self, x):
        return self.dense2(nn.functional.gelu(self.dense1(x)))


class PatchEmbedding(nn.Module):
    def __init__(self, patch_size=16, num_hiddens=512):
        super().__init__()
        self.conv = nn.LazyConv2d(num_hiddens, kernel_size=patch_size, stride=patch_size)

    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)


class ViT(nn.Module):
    def __init__(self, num_hiddens=64):
        super().__init__()
        self.patch_embedding = PatchEmbedding(8, num_hiddens)

    # forward comes later
"""
_PROJECTION_TO_COME = """
import torch
from torch import nn


class SelbstAufmerksamkeit(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).reshape(B, T, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        weights = (q @ k.transpose(-2, -1) / (D // self.heads) ** 0.5).softmax(-1)
        context = (weights @ v).transpose(1, 2).reshape(B, T, D)
        # TODO: projection
        return context
"""
_NOTHING_KEPT = _PROJECTION_TO_COME.replace(
    "        return context", "        context = None\n        return context"
)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        pytest.param(_LAZY, [1, 2, 3, 4, 17, 18], id="layers that are as wide as their first input"),
        pytest.param(_PROJECTION_TO_COME, [1, *range(9, 15)], id="attention without its projection"),
        pytest.param(_NOTHING_KEPT, [1, *range(9, 15)], id="attention that returns a variable of None"),
    ],
)
def test_a_part_is_right_as_far_as_it_comes(
    text: str, right: list[int], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded_file(text, VIT, zygote, tmp_path)
    assert (result.mistakes, right_stages(result)) == ([], right)


def test_heads_that_a_later_line_merges_wrongly_are_told_on_that_line(zygote: Zygote, tmp_path: Path) -> None:
    text = edited(
        _PROJECTION_TO_COME,
        [
            (
                "context = (weights @ v).transpose(1, 2).reshape(B, T, D)",
                "x = weights @ v\n        x = x.reshape(B, T, D)",
            ),
            ("# TODO: projection\n        return context", "return self.proj(x)"),
        ],
    )
    result = graded_file(text, VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["heads-merged-without-transpose"]
    place = result.mistakes[0].location
    assert place is not None
    assert [one.text.strip() for one in place.excerpt if one.marked] == ["x = x.reshape(B, T, D)"]


def test_what_is_wrong_right_before_the_gap_is_told(zygote: Zygote, tmp_path: Path) -> None:
    text = _PROJECTION_TO_COME.replace("(weights @ v).transpose(1, 2)", "(weights @ v)")
    result = graded_file(text, VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["heads-merged-without-transpose"]
