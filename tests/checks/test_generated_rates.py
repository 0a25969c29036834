"""What is counted of generated programs is what was said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from vitcheck.__main__ import main
from vitcheck.checks.selftest.generated import Generated, Told, load_maker
from vitcheck.checks.selftest.rates import (
    GRADER_FAILED,
    Row,
    causes,
    own_failures,
    right_rates,
    unfinished_rates,
    wrong_rates,
)

RIGHT = Generated("right_1_0000", "right", {}, {})
WRONG = Generated("wrong_1_0000", "wrong", {}, {}, stages=("S12",), ids=("scale-missing",), lines=(31,))
UNNAMED = replace(WRONG, ids=())
FINE = Told("graded", located=True)
FAILED = Told(
    "graded", lost=2.4, stages=("S12",), named=("scale-missing",), line=31, cause="S12 scale-missing"
)


def test_a_right_program_that_loses_points_is_counted_with_its_cause() -> None:
    rows = [
        Row(RIGHT, FINE),
        Row(RIGHT, FAILED),
        Row(RIGHT, Told("not_loaded", lost=100, cause="not_loaded: x")),
    ]
    assert right_rates(rows) == {"built": 2, "all stages located": 1, "lost points": 2}
    assert causes(rows) == [("S12 scale-missing", [RIGHT.name]), ("not_loaded: x", [RIGHT.name])]


SAID = [
    (WRONG, FINE, set()),
    (WRONG, FAILED, {"detected", "first stage right", "named truly", "line right"}),
    (
        WRONG,
        replace(FAILED, named=(), line=None),
        {"detected", "first stage right", "honestly unnamed", "no line"},
    ),
    (
        WRONG,
        replace(FAILED, named=("softmax-twice",), line=7),
        {"detected", "first stage right", "named falsely", "line wrong"},
    ),
    (
        WRONG,
        replace(FAILED, stages=("S12", "S13")),
        {"detected", "first stage right", "named truly", "line right", "something right blamed beside it"},
    ),
    (UNNAMED, FAILED, {"detected", "first stage right", "named, unknown to us", "line right"}),
    (
        UNNAMED,
        replace(FAILED, stages=("S09",)),
        {"detected", "named falsely", "line right", "something right blamed beside it"},
    ),
]


@pytest.mark.parametrize(("program", "said", "words"), SAID)
def test_what_is_said_of_a_wrong_program(program: Generated, said: Told, words: set[str]) -> None:
    assert {word for word, count in wrong_rates([Row(program, said)]).items() if count} == words


def test_an_unfinished_program_is_told_apart_and_its_mistake_told() -> None:
    rows = [Row(RIGHT, replace(FINE, unfinished=True)), Row(WRONG, FAILED)]
    assert unfinished_rates(rows) == {"told apart": 1, "with a mistake in them": 1, "mistake told": 1}


def test_the_graders_own_failures_are_counted() -> None:
    rows = [Row(RIGHT, Told(status)) for status in (GRADER_FAILED, "refused", "timed_out", "graded")]
    assert own_failures(rows) == {GRADER_FAILED: 1, "refused": 1, "timed_out": 1}


def test_a_row_is_kept_and_read_again() -> None:
    row = Row(WRONG, FAILED)
    assert Row.from_json(row.to_json()) == row


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    kept = tmp_path / "rows.jsonl"
    names = [f"{kind}_7_0000" for kind in ("right", "wrong")]
    rows = [Row(replace(program, name=name), FINE) for program, name in zip((RIGHT, WRONG), names)]
    kept.write_text("".join(row.to_json() + "\n" for row in rows), "utf-8")
    tests = str(Path(__file__).parents[1])
    command = ["selftest", tests, "--generated", "1", "--seed", "7", "--kept", str(kept)]
    run = CliRunner().invoke(main, command, catch_exceptions=False)
    assert run.exit_code == 0
    assert "| right | 1 |\n| --- | ---: |\n| built | 1 |" in run.output
    assert len(kept.read_text("utf-8").splitlines()) == 2


def test_what_is_known_of_a_wrong_program_reaches_the_count() -> None:
    made = load_maker(Path(__file__).parents[1])("wrong", "3", 0)
    assert made.files
    assert made.sizes["embed_dim"] % made.sizes["heads"] == 0
    assert made.raises or made.stages


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["selftest", str(tmp_path), "--generated", "1"])
    assert run.exit_code == 2
    assert "there is no selftest_cases.py" in run.output
