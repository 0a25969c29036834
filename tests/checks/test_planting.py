"""Mistakes planted in the reference, and what they cost under an assignment."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from samples import all_passed, scaled_by_embed_dim

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.assignment.asked_points import Points
from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.classes.engines import Done
from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.record.result import Result
from vitcheck.checks.tools.course.fates import fates
from vitcheck.checks.tools.course.planting import plantable, reference_as_submission
from vitcheck.checks.tools.course.typical import typical_submissions
from vitcheck.checks.tools.course.validating import validate
from vitcheck.checks.tools.course.validation import Fate, MistakeFate
from vitcheck.checks.tools.selftest.corpus_counts import every
from vitcheck.submissions.host.process import Zygote

ASSIGNMENTS = {"report": "vit-debugging", "pre-norm": "vit-prenorm", "clip": "clip-vit"}
SAMPLE = [(one, id) for one in ASSIGNMENTS for id in every(list(plantable(one)), 2)]


def graded(architecture: str, mistake: str, assignment: Assignment, zygote: Zygote) -> Result:
    asked = assignment.model_copy(update={"examples": 3})
    handed = reference_as_submission(architecture, *([mistake] if mistake else []))
    return Task(handed, "reference", asked, 0).grade(zygote)


def told(zygote: Zygote, assignment: Assignment, *ids: str) -> dict[str, MistakeFate]:
    """The fates of mistakes planted in the report's model."""
    right = graded("report", "", assignment, zygote)
    planted = {id: graded("report", id, assignment, zygote) for id in ids}
    return {one.id: one for one in fates(assignment, right, planted)}


@pytest.mark.parametrize("architecture", ASSIGNMENTS)
def test_each_mistake_changes_the_reference_and_leaves_it_python(architecture: str) -> None:
    right = reference_as_submission(architecture).files
    for id in plantable(architecture):
        assert id in mistakes()
        wrong = reference_as_submission(architecture, id).files
        assert wrong != right
        for name, content in wrong.items():
            ast.parse(content, name)


@pytest.mark.parametrize("architecture", ASSIGNMENTS)
def test_the_reference_itself_makes_no_mistake(architecture: str, zygote: Zygote) -> None:
    result = graded(architecture, "", load_assignment(ASSIGNMENTS[architecture]), zygote)
    assert result.mistakes == []
    asked_beside = ("breakpoint[", "output[")  # the reference has no marks, and returns its scores alone
    wrong = [one.id for one in result.checks if one.points and one.outcome in ("failed", "not_reached")]
    assert [one for one in wrong if not one.startswith(asked_beside)] == []


@pytest.mark.parametrize(("architecture", "id"), SAMPLE)
def test_the_mistake_that_was_planted_is_the_one_that_is_named(
    architecture: str, id: str, zygote: Zygote
) -> None:
    result = graded(architecture, id, load_assignment(ASSIGNMENTS[architecture]), zygote)
    named = {id for one in result.mistakes for id in (one.id, *one.also)}
    assert id in named | {one.id for one in result.variants}


def test_it_is_told_why_a_mistake_costs_nothing(zygote: Zygote) -> None:
    shipped = load_assignment("vit-debugging")
    asked = shipped.model_copy(update={"points": Points.model_validate({"shapes": 50})})
    found = told(zygote, asked, "scale-missing", "patch-columns-first")
    assert (found["scale-missing"].fate, found["scale-missing"].why) == (
        Fate.WORTHLESS,
        "equation[S12] fails for 0 points",
    )
    assert found["patch-columns-first"].fate is Fate.ALLOWED
    assert found["softmax-twice"].fate is Fate.UNTRIED
    assert "heads-summed" not in found  # of exercises, which are not asked for


def test_a_mistake_that_costs_points_is_caught_and_a_layout_that_is_allowed_costs_none(
    zygote: Zygote,
) -> None:
    found = told(zygote, load_assignment("vit-debugging"), "scale-missing", "patch-columns-first")
    caught = found["scale-missing"]
    assert (caught.fate, caught.why) == (Fate.CAUGHT, "")
    assert caught.points > 2
    assert found["patch-columns-first"].fate is Fate.ALLOWED


class Answers:
    """An engine that finds one planted mistake, and nothing wrong with anything else."""

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def finish(self) -> None:
        pass

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        for task in tasks:
            wrong = task.name == "reference scale-by-embed-dim"
            yield Done(task, scaled_by_embed_dim() if wrong else all_passed())


def test_of_a_whole_model_every_mistake_that_can_be_planted_is_tried(tmp_path: Path) -> None:
    (tmp_path / "vit.py").touch()
    counted: list[tuple[int, int]] = []
    found = validate(
        load_assignment("vit-debugging"),
        "",
        tmp_path / "vit.py",
        seeds=2,
        engine=Answers(),
        done=lambda number, of: counted.append((number, of)),
    )
    tried = len(plantable("report")) + len(typical_submissions("report"))
    assert counted[-1] == (3 + tried, 3 + tried)  # two of the solution, and one of the reference as it is
    fates = {one.id: one.fate for one in found.mistakes}
    assert fates["scale-by-embed-dim"] is Fate.CAUGHT
    assert fates["scale-missing"] is Fate.UNSEEN
    assert fates["gelu-tanh"] is Fate.ALLOWED
