"""A model whose embedding, or whose patches alone, are still to come: what stands behind them is judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import FINISHED, VIT

from vitcheck.checks.record.result import Result
from vitcheck.submissions.host.process import Zygote

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
    assert right_stages(result) == [1, *range(8, 27)]


_PATCHES_TO_COME = [
    ("self.patches(image).flatten(2).transpose(1, 2)", "self.embed(image)"),
    (
        "    def pooled(self",
        "    def embed(self, image):\n        raise NotImplementedError\n\n    def pooled(self",
    ),
]


def test_a_model_is_judged_behind_patches_that_are_to_come(zygote: Zygote, tmp_path: Path) -> None:
    result = _behind(zygote, tmp_path, *_PATCHES_TO_COME)
    assert (result.mistakes, right_stages(result)) == ([], [1, *range(5, 27)])


@pytest.mark.parametrize(
    ("edit", "id"),
    [
        (
            ("[self.cls.expand(len(x), -1, -1), x]", "[x, self.cls.expand(len(x), -1, -1)]"),
            "cls-appended-last",
        ),
        (("return x[:, 0]", "return x[:, -1]"), "readout-last-token"),
        (("scores.softmax(-1)", "scores.softmax(-2)"), "softmax-over-queries"),
    ],
)
def test_a_mistake_behind_patches_is_told(
    edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = _behind(zygote, tmp_path, *_PATCHES_TO_COME, edit)
    assert [one.id for one in result.mistakes] == [id]


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
