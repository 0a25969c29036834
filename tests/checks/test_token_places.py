"""Where the class token stands, and positions that are kept by rows and columns of patches."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file
from test_unfinished import FINISHED, VIT

from vitcheck.submissions.host.process import Zygote

_TABLE = "self.pos = nn.Parameter(torch.zeros(1, (image_size // patch_size) ** 2 + 1, dim))"
_SIDE = "image_size // patch_size"
_GRID = (
    f"self.rows = nn.Parameter(torch.zeros({_SIDE}, 1, dim))\n"
    f"        self.columns = nn.Parameter(torch.zeros(1, {_SIDE}, dim))"
)
_PATCHES = "x = self.patches(image).flatten(2).transpose(1, 2)\n"
_PLACED = "x = (self.patches(image).permute(0, 2, 3, 1) + self.rows + self.columns).flatten(1, 2)\n"
_FRONT = "[self.cls.expand(len(x), -1, -1), x]"
_BEHIND = "[x, self.cls.expand(len(x), -1, -1)]"


@pytest.mark.parametrize("norm", ["self.norm(x)[:, -1]", "self.norm(x[:, -1])"])
def test_a_class_token_that_is_read_where_it_stands_is_a_variant(
    norm: str, zygote: Zygote, tmp_path: Path
) -> None:
    edits = [(_FRONT, _BEHIND), ("self.pooled(self.norm(x))", norm)]
    result = graded_file(edited(FINISHED, edits), VIT, zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert "class-token-last" in {one.id for one in result.variants}


def test_it_may_have_no_position_there(zygote: Zygote, tmp_path: Path) -> None:
    edits = [
        (_TABLE, _TABLE.replace(" + 1, dim", ", dim")),
        (f"        x = torch.cat({_FRONT}, dim=1)\n", ""),
        ("x = x + self.pos\n", f"x = torch.cat({_BEHIND.replace('[x,', '[x + self.pos,')}, dim=1)\n"),
        ("self.pooled(self.norm(x))", "self.norm(x)[:, -1]"),
    ]
    result = graded_file(edited(FINISHED, edits), VIT, zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
    assert "cls-without-position" in {one.id for one in result.variants}


def test_one_that_is_not_read_there_is_a_mistake(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(edited(FINISHED, [(_FRONT, _BEHIND)]), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["cls-appended-last"]


def test_positions_by_rows_and_columns_are_right(zygote: Zygote, tmp_path: Path) -> None:
    edits = [(_TABLE, _GRID), (_PATCHES, _PLACED), ("        x = x + self.pos\n", "")]
    result = graded_file(edited(FINISHED, edits), VIT, zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])


def test_those_of_columns_alone_are_not(zygote: Zygote, tmp_path: Path) -> None:
    placed = _PLACED.replace(" + self.rows", "")
    edits = [(_TABLE, _GRID), (_PATCHES, placed), ("        x = x + self.pos\n", "")]
    result = graded_file(edited(FINISHED, edits), VIT, zygote, tmp_path)
    assert result.stages["S07"].status.value == "failed"


def test_a_table_that_is_fitted_to_the_image_may_leave_the_token_one_of_its_own(
    zygote: Zygote, tmp_path: Path
) -> None:
    """Positions of patches lie on the map, as large as it is; that of the token is added to it before."""
    grid = (
        "self.pos = nn.Parameter(torch.zeros(1, dim, 7, 7))\n"
        "        self.first = nn.Parameter(torch.zeros(dim))"
    )
    placed = (
        "x = self.patches(image)\n"
        "        fitted = torch.nn.functional.interpolate(self.pos, x.shape[2:], mode='bilinear')\n"
        "        x = (x + fitted).flatten(2).transpose(1, 2)\n"
    )
    edits = [
        (_TABLE, grid),
        (_PATCHES, placed),
        (_FRONT, "[(self.cls + self.first).expand(len(x), -1, -1), x]"),
        ("        x = x + self.pos\n", ""),
    ]
    result = graded_file(edited(FINISHED, edits), VIT, zygote, tmp_path)
    assert (result.score.earned, result.mistakes) == (100, [])
