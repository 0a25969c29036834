"""``vitcheck gradebook mark``: a person's points for answers in writing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Run
from gradebooks import result, work

from vitcheck.__main__ import main
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.record.written_result import AnswerResult, WrittenResult

Command = Callable[..., Run]
ANSWERS = [
    AnswerResult(id=id, question="Why?", rubric="Because.", points=points)
    for id, points in (("q1", 2.0), ("q2", 1.5), ("q3", 0.0))
]


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """A gradebook with a submission that was asked three questions, and one that was asked none."""
    file = str(tmp_path / "gradebook.sqlite")
    asked = result("ann").model_copy(update={"written": WrittenResult(documents=[], answers=ANSWERS)})
    with open_gradebook(file, create=True) as book:
        run = book.begin(work(), 7)
        book.record(run, "a1", asked)
        book.record(run, "b1", result("bob"))
    return lambda *words: CliRunner().invoke(main, ["gradebook", *words, "--gradebook", file])


def test_marks_are_added_to_what_was_earned_and_stay(command: Command) -> None:
    assert command("mark", "ann", "q1=2", "q2=0.5").output == "  82.5 of 100  ann  marked q1 2 and q2 0.5\n"
    assert command("mark", "ann", "q2=1").output == "    83 of 100  ann  marked q1 2 and q2 1\n"
    line = command("adjust", "ann", "--points", "-3").output
    assert line == "    80 of 100  ann  adjusted by -3, marked q1 2 and q2 1\n"
    assert command("mark", "ann", "q1=").output.endswith("adjusted by -3, marked q2 1\n")


def test_points_that_are_set_take_the_place_of_marks_too(command: Command) -> None:
    command("mark", "ann", "q1=2")
    assert command("adjust", "ann", "--points", "50").output.startswith("    50 of 100")


def test_who_marked_what_is_in_the_history_and_the_export(command: Command, tmp_path: Path) -> None:
    command("mark", "ann", "q1=2", "q2=0.5")
    assert "marked q1 2 and q2 0.5, said " in command("history", "ann").output
    command("export", "--json", str(tmp_path / "g.json"))
    ann, bob = json.loads((tmp_path / "g.json").read_text())
    assert (ann["marks"], ann["score"], bob["marks"]) == ("q1=2 q2=0.5", 82.5, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ann", "q9=1"], "there is no question q9; there is q1, q2, q3"),
        (["ann", "q1=3"], "q1 is worth 2: for more than that, use gradebook adjust --points"),
        (["ann", "q3=1"], "q3 is worth nothing in vit-debugging: say in a file of yours what it is worth"),
        (["bob", "q1=1"], "no question was asked in writing when it was graded as vit-debugging"),
        (["ann", "q1"], "q1 is not a mark such as q1=2"),
        (["ann", "q1=two"], "'two' is not a valid float"),
        (["ann", "q1=-1"], "-1 is not a number of points for q1"),
        (["ann", "q1=nan"], "nan is not a number of points for q1"),
        (["ann"], "give NAME and QUESTION=POINTS, or --csv FILE"),
        (["cleo", "q1=1"], "there is no submission cleo"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_changed(
    command: Command, words: list[str], message: str
) -> None:
    run = command("mark", *words)
    assert run.exit_code == 2
    assert message in " ".join(run.output.split())
    assert command("list").output == "    80 of 100  ann\n    80 of 100  bob\n"
