"""A stack of blocks, a head, and both without their embedding: each is judged by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import FINISHED, VIT

from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Result
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
        (_STACK + _HEAD, [1, *range(8, 26)]),
        ("import torch\nfrom torch import nn\n" + _HEAD, [1, 23, 24, 25]),
        (
            "import torch\nfrom torch import nn\n" + _HEAD.replace("self.norm(x)[:, 0]", "self.norm(x)"),
            [1, 25],
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
    assert (result.mistakes, right_stages(result)) == ([], [1])


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


_EMBEDS = FINISHED[FINISHED.index("        x = self.patches(image)") : FINISHED.index("        for block in")]
_LATER = [
    (_EMBEDS, "        x = self.embed(image)\n"),
    (
        "    def pooled(self",
        "    def embed(self, image):\n        raise NotImplementedError\n\n    def pooled(self",
    ),
]
_NONE = [
    (_EMBEDS, "        x = self.embedding(image)\n"),
    (
        "        self.norm, self.head",
        "        self.embedding = None  # comes later\n        self.norm, self.head",
    ),
]


def _behind(zygote: Zygote, folder: Path, *edits: tuple[str, str]) -> Result:
    return graded_file(edited(FINISHED, edits), VIT, zygote, folder)


@pytest.mark.parametrize(
    "embedding", [_LATER, _NONE], ids=["a method that raises", "an attribute of nothing"]
)
def test_a_model_is_judged_behind_an_embedding_that_is_to_come(
    embedding: list[tuple[str, str]], zygote: Zygote, tmp_path: Path
) -> None:
    result = _behind(zygote, tmp_path, *embedding)
    assert result.mistakes == []
    assert right_stages(result) == [1, *range(8, 26)]


@pytest.mark.parametrize(
    ("edit", "id"),
    [
        (("return x[:, 0]", "return x[:, -1]"), "readout-last-token"),
        (("scores.softmax(-1)", "scores.softmax(-2)"), "softmax-over-queries"),
        (
            ("[Block(dim, heads, mlp) for _ in range(depth)]", "[Block(dim, heads, mlp)] * depth"),
            "blocks-share-one-instance",
        ),
    ],
)
def test_a_mistake_behind_it_is_told(edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = _behind(zygote, tmp_path, *_LATER, edit)
    assert [one.id for one in result.mistakes] == [id]
