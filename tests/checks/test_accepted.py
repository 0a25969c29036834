"""What an assignment accepts costs nothing: each form alone, and pairs of them."""

from __future__ import annotations

import pytest
from accepted_forms import ASSIGNMENTS, AcceptedForm, accepting, forms_for, pairs_for, written

from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.record.result import Result
from vitcheck.checks.tools.selftest.corpus_counts import every
from vitcheck.submissions.host.process import Zygote

ALONE = [(kind, one) for kind in ASSIGNMENTS for one in forms_for(kind)]
_ALONE = {"batch norm"}  # what it costs beside another is counted by tests/benchmarks/accepted_pairs.py
PAIRS = [
    (kind, *pair)
    for kind in ASSIGNMENTS
    for pair in every(list(pairs_for(kind)), 24)
    if not _ALONE & {one.name for one in pair}
]


def _name(value: object) -> str:
    return value.name if isinstance(value, AcceptedForm) else str(value)


def graded(kind: str, assignment: Assignment, zygote: Zygote, *forms: AcceptedForm) -> Result:
    """The program in these forms."""
    return Task(written(kind, *forms), "vit", assignment, 0).grade(zygote)


def costs_nothing(result: Result) -> bool:
    """Has it all points, and is nothing called a mistake?"""
    return not result.mistakes and result.score.earned == pytest.approx(result.score.possible, abs=1e-6)


@pytest.mark.parametrize(("kind", "form"), ALONE, ids=_name)
def test_an_accepted_form_is_free(kind: str, form: AcceptedForm, zygote: Zygote) -> None:
    result = graded(kind, accepting(kind, form), zygote, form)
    assert costs_nothing(result), [(one.id, one.message) for one in result.checks if one.outcome == "failed"]
    assert {one.id for one in result.variants} >= set(form.ids)


@pytest.mark.parametrize(
    ("kind", "form"),
    [one for one in ALONE if all(load_assignment(DEFAULT).allows(id)[0] for id in one[1].ids)],
    ids=_name,
)
def test_so_it_is_where_nothing_is_asked_for(kind: str, form: AcceptedForm, zygote: Zygote) -> None:
    result = graded(kind, load_assignment(DEFAULT).model_copy(update={"examples": 3}), zygote, form)
    assert costs_nothing(result), [(one.id, one.message) for one in result.checks if one.outcome == "failed"]


@pytest.mark.parametrize(("kind", "one", "other"), PAIRS, ids=_name)
def test_so_are_two(kind: str, one: AcceptedForm, other: AcceptedForm, zygote: Zygote) -> None:
    assert costs_nothing(graded(kind, accepting(kind, one, other), zygote, one, other))


@pytest.mark.parametrize("other", ["post-norm block", "positions in every block"])
def test_blocks_behind_a_norm_are_what_they_are(other: str, zygote: Zygote) -> None:
    forms = [one for one in forms_for("pre-norm") if one.name in ("norm before the encoder", other)]
    assert len(forms) == 2
    assert costs_nothing(graded("pre-norm", accepting("pre-norm", *forms), zygote, *forms))
    whatever = load_assignment(DEFAULT).model_copy(update={"examples": 3})
    if other == "post-norm block":
        assert costs_nothing(graded("pre-norm", whatever, zygote, *forms))


@pytest.mark.parametrize("kind", ASSIGNMENTS)
@pytest.mark.parametrize("id", ["cls-missing", "post-norm-block", "mean-pool-patches"])
def test_one_that_is_not_accepted_costs_points_by_its_name(kind: str, id: str, zygote: Zygote) -> None:
    form = next(one for one in forms_for(kind) if one.id == id)
    shipped = load_assignment(ASSIGNMENTS[kind]).model_copy(update={"examples": 3})
    result = graded(kind, shipped, zygote, form)
    assert result.score.earned < result.score.possible
    assert id in {name for one in result.mistakes for name in (one.id, *one.also)}
