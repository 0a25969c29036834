"""A model that cannot be built, or whose pass raises at its beginning, earns what its parts show."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES, edited
from one_file import graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.record.result import Outcome, Result, StageStatus, Status
from vitcheck.reports.words.standing import findings, symptoms
from vitcheck.submissions.host.process import Zygote

VIT = load_assignment("vit")
_PATCHES = {"S02", "S03", "S04"}
_BLOCK = {f"S{number:02}" for number in range(8, 21)}
_INIT = "        height, width = img_size if isinstance(img_size, tuple) else (img_size, img_size)\n"
_CLASS = "class ViT(nn.Module):\n"


def graded(edit: tuple[str, str], zygote: Zygote, folder: Path) -> Result:
    return graded_file(edited(BASES["report"].source(), [edit]), VIT, zygote, folder)


def right(result: Result) -> set[str]:
    return {label for label, one in result.stages.items() if one.status is StageStatus.PASSED}


@pytest.mark.parametrize(
    ("edit", "says", "line", "seen"),
    [
        ((_INIT, f"{_INIT}        count = sides\n"), "name 'sides' is not defined", "count = sides", _BLOCK),
        ((_CLASS, f"{_CLASS}    count = sides\n"), "name 'sides' is not defined", "count = sides", _BLOCK),
        (
            ("self.qkv = nn.Linear(dim, 3 * dim)", "self.qkv = nn.Linear(dim, 3 * dim, with_bias=True)"),
            "unexpected keyword argument 'with_bias'",
            "with_bias=True",
            set(),
        ),
    ],
    ids=["its constructor", "its class", "the constructor of a block"],
)
def test_what_cannot_be_built_is_told_and_its_parts_are_paid(
    edit: tuple[str, str], says: str, line: str, seen: set[str], zygote: Zygote, tmp_path: Path
) -> None:
    result = graded(edit, zygote, tmp_path)
    assert result.status is Status.NOT_LOADED
    assert result.reason is not None
    assert result.reason.endswith(says)  # no other arguments would help
    assert result.location is not None
    assert any(one.marked and line in one.text for one in result.location.excerpt)
    assert right(result) == _PATCHES | seen
    assert {one.stage for one in result.checks if one.earned} == right(result)
    (told,) = findings(result)  # all else follows
    assert (told.tone, list(symptoms(result))) == ("stopped", [])


def test_what_is_wrong_in_a_part_is_told_beside_it(zygote: Zygote, tmp_path: Path) -> None:
    text = edited(BASES["report"].source(), [(_INIT, f"{_INIT}        count = sides\n")])
    result = graded_file(text.replace("math.sqrt(self.head_dim)", "self.head_dim"), VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["scale-by-head-dim"]
    assert [one.label for one in findings(result)] == ["", "S12"]


def test_parts_behind_an_exception_are_paid(zygote: Zygote, tmp_path: Path) -> None:
    result = graded(("        B = img.size(0)\n", "        B = count.size(0)\n"), zygote, tmp_path)
    assert result.status is Status.GRADED
    assert result.stages["S02"].crashed
    assert right(result) == {"S01"} | _BLOCK


def test_of_what_cannot_be_built_no_check_of_a_whole_model_is_asked(zygote: Zygote, tmp_path: Path) -> None:
    result = graded((_INIT, f"{_INIT}        count = sides\n"), zygote, tmp_path)
    ended = {one.outcome for one in result.checks if one.id.startswith("property[")}
    assert ended == {Outcome.NOT_REACHED}
