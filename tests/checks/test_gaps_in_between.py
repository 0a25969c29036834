"""What stands behind code that is not written yet is judged, where that could give back what it is given."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file, right_stages
from test_unfinished import FINISHED, MLP, VIT

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.faults import to_write
from vitcheck.checks.record.result import Result
from vitcheck.submissions.host.process import Zygote

_ATTENTION = FINISHED[FINISHED.index("        B, T, D = x.shape") : FINISHED.index("    def mlp(self")]
_LATER = '        raise NotImplementedError("later")\n\n'
_TOKENS = ("    def pooled(self", "    def tokens(self, image): ...\n\n    def pooled(self")
_PLACE = ("x = x + self.pos", "x = self.positions(x)")
_GAPS = {
    "attention that raises": ([(_ATTENTION, _LATER)], range(9, 16)),
    "attention of three dots": ([(_ATTENTION, "        ...\n\n")], range(9, 16)),
    "attention that gives back what it is given": (
        [(_ATTENTION, "        # TODO: does nothing yet\n        return x\n\n")],
        range(9, 16),
    ),
    "an output projection": (
        [
            (
                "return self.proj(context.transpose(1, 2).reshape(B, T, D))",
                "x = context.transpose(1, 2).reshape(B, T, D)\n        # TODO: projection\n        return x",
            )
        ],
        range(15, 16),
    ),
    "an MLP that returns nothing": ([(MLP, "return None")], range(17, 19)),
    "attention of which there is a draft": (
        [
            ("        self.norm1, self.norm2", "        # TODO: attention\n        self.norm1, self.norm2"),
            ("x = x + self.attention(self.norm1(x))", "# x = x + self.attn(self.norm1(x))"),
        ],
        range(9, 16),
    ),
    "a layer that does nothing yet": (
        [
            _PLACE,
            ("self.norm, self.head", "self.positions = nn.Identity()  # TODO\n        self.norm, self.head"),
        ],
        range(7, 8),
    ),
}


def graded(zygote: Zygote, folder: Path, *edits: tuple[str, str]) -> Result:
    return graded_file(edited(FINISHED, edits), VIT, zygote, folder)


@pytest.mark.parametrize("name", _GAPS)
def test_all_but_the_gap_is_right(name: str, zygote: Zygote, tmp_path: Path) -> None:
    edits, gap = _GAPS[name]
    result = graded(zygote, tmp_path, *edits)
    assert result.mistakes == []
    assert to_write(result) == [f"S{number:02}" for number in gap]
    assert right_stages(result) == [number for number in range(1, 27) if number not in gap]


@pytest.mark.parametrize(
    ("edit", "id"),
    [
        (("return self.head(self.pooled(self.norm(x)))", "return self.head(self.pooled(x))"), ""),
        (
            ("self.head(self.pooled(self.norm(x)))", "self.head(self.pooled(self.norm(x))).relu()"),
            "relu-on-logits",
        ),
        (("return x[:, 0]", "return x[:, -1]"), "readout-last-token"),
        (("return x + self.mlp(self.norm2(x))", "return self.mlp(self.norm2(x))"), "residual-mlp-missing"),
        (
            ("x = x + self.attention(self.norm1(x))", "x = self.norm1(x)\n        x = x + self.attention(x)"),
            "residual-from-normed-attn",
        ),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_a_mistake_behind_it_is_told(edit: tuple[str, str], id: str, zygote: Zygote, tmp_path: Path) -> None:
    result = graded(zygote, tmp_path, (_ATTENTION, _LATER), edit)
    assert [one.id for one in result.mistakes] == ([id] if id else [])
    assert to_write(result)[0] == "S09"


def test_a_block_alone_is_judged_around_attention_that_is_to_come(zygote: Zygote, tmp_path: Path) -> None:
    block = FINISHED[: FINISHED.index("class ViT")].replace(_ATTENTION, "        pass\n\n")
    wrong = edited(
        block,
        [("x = x + self.attention(self.norm1(x))", "x = self.norm1(x)\n        x = x + self.attention(x)")],
    )
    anything = load_assignment(DEFAULT)
    right = graded_file(block, anything, zygote, tmp_path)
    assert (right.mistakes, right_stages(right)) == ([], [1, 8, 16, 17, 18, 19, 20])
    told = graded_file(wrong, anything, zygote, tmp_path)
    assert [one.id for one in told.mistakes] == ["residual-from-normed-attn"]


def test_the_half_of_a_block_that_a_comment_names_is_to_come(zygote: Zygote, tmp_path: Path) -> None:
    half = (
        "return x + self.mlp(self.norm2(x))",
        "# TODO: second half (norm2, mlp, residual)\n        return x",
    )
    result = graded(zygote, tmp_path, (MLP, "raise NotImplementedError"), half)
    assert (result.mistakes, right_stages(result)) == ([], [*range(1, 16), *range(20, 27)])


@pytest.mark.parametrize(
    ("edits", "following"),
    [
        ([("return x[:, 0]", "pass")], "S24"),
        ([("self.patches(image).flatten(2).transpose(1, 2)", "self.tokens(image)"), _TOKENS], "S02"),
    ],
    ids=["tokens for one of them", "an image for patches"],
)
def test_what_gives_something_else_is_no_gap_to_pass_through(
    edits: list[tuple[str, str]], following: str, zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(zygote, tmp_path, *edits)
    assert result.mistakes == []
    assert to_write(result)[0] == following
