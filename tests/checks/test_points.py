"""What a submission gets for how its checks ended, in every way in which an assignment may pay."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vitcheck.checks.assignment.asked_points import MistakePoints, Points
from vitcheck.checks.assignment.assignment import (
    Assignment,
    AssignmentError,
    load_assignment,
    parse_assignment,
)
from vitcheck.checks.grading.running import planned_checks
from vitcheck.checks.points.scoring import judging_digest, scored
from vitcheck.checks.record.result import CheckResult, Outcome, Result, Run, Score, Status, Visibility

VIT = load_assignment("vit-prenorm")
SCHEMES = {
    "groups": Points.model_validate(
        {"shapes": 15, "equations": 55, "invariants": 10, "properties": 15, "parameters": 5}
    ),
    "parts": Points(parts={"patches": 20, "attention": 50, "model": 20, "style": 10}),
    "stages": Points(stages={f"S{number:02}": 4 for number in range(2, 27)}),
    "each": Points(mistakes=MistakePoints(each=5, at_most=60)),
    "severity": Points(mistakes=MistakePoints(at_most=70)),
    "beside": Points.model_validate({"prints": 10, "mistakes": MistakePoints(of=90)}),
}
CHECKS = [(one.id, one.stage and VIT.family.stage(one.stage).label) for one in planned_checks(VIT)]


def paying(points: Points) -> Assignment:
    return VIT.model_copy(update={"points": points})


def record(**ended: tuple[Outcome, Sequence[str]] | Outcome) -> Result:
    """A submission whose checks passed, but for these; ``equation_S12`` stands for ``equation[S12]``."""
    found = []
    for id, stage in CHECKS:
        how = ended.get(id.rstrip("]").replace("[", "_").replace("-", "_"), Outcome.PASSED)
        outcome, mistakes = how if isinstance(how, tuple) else (how, ())
        found.append(
            CheckResult(
                id=id, stage=stage, title=id, outcome=outcome, points=0, earned=0, mistakes=[*mistakes]
            )
        )
    return Result(
        schema=1,
        submission="x",
        assignment=VIT.name,
        status=Status.GRADED,
        score=Score(earned=0, possible=0),
        checks=found,
        run=Run(seed=0, seconds=0),
    )


def earned(scheme: str, **ended: tuple[Outcome, Sequence[str]] | Outcome) -> float:
    return scored(record(**ended), paying(SCHEMES[scheme])).score.earned


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_right_gets_all(scheme: str) -> None:
    assert earned(scheme) == 100


OUTCOMES = st.dictionaries(
    st.sampled_from([id.rstrip("]").replace("[", "_").replace("-", "_") for id, _ in CHECKS]),
    st.sampled_from(list(Outcome)),
)


@settings(deadline=None)
@given(OUTCOMES, st.sampled_from(list(SCHEMES)), st.sampled_from(list(SCHEMES)))
def test_points_add_up_and_can_be_given_anew(ended: dict[str, Outcome], first: str, then: str) -> None:
    found = record(**ended)
    result = scored(found, paying(SCHEMES[first]))
    assert sum(one.points for one in result.checks) == pytest.approx(100, abs=0.01)
    assert 0 <= result.score.earned <= result.score.possible == 100
    assert all(0 <= one.earned <= one.points for one in result.checks)
    assert scored(result, paying(SCHEMES[then])) == scored(found, paying(SCHEMES[then]))


WRONG = (Outcome.FAILED, ["softmax-over-queries"])


@pytest.mark.parametrize(
    ("ended", "each", "severity"),
    [
        ({"equation_S13": WRONG, "invariant_S13": WRONG}, 95, 88),  # once, however many checks it fails
        ({"equation_S13": WRONG, "equation_S14": WRONG}, 95, 88),  # and at however many stages
        ({"equation_S13": WRONG, "equation_S19": Outcome.FAILED}, 90, 76),
        ({"equation_S13": (Outcome.FAILED, ["causal-mask-added"])}, 95, 50),
        ({"equation_S13": (Outcome.FAILED, ["layernorm-eps-outside-sqrt"])}, 95, 97),
        (
            {"property_gradients": (Outcome.FAILED, ["no-grad-in-blocks"]), "parameters": Outcome.FAILED},
            95,
            50,
        ),
        (
            {
                "property_registered": (Outcome.FAILED, ["blocks-in-python-list"]),
                "property_one_device": (Outcome.FAILED, ["buffer-not-registered"]),  # which it brings
            },
            95,
            50,
        ),
        ({"property_gradients": Outcome.FAILED}, 95, 88),
        ({"property_gradients": Outcome.FAILED, "equation_S13": WRONG}, 95, 88),  # it may follow from that
        ({f"equation_S{number:02}": Outcome.FAILED for number in range(2, 14)}, 40, 30),  # at most
        ({f"equation_S{number:02}": Outcome.FAILED for number in range(2, 26)}, 4, 4),  # not of all stages
        ({f"breakpoint_S{number:02}": Outcome.MISSING for number in range(1, 27)}, 95, 97),
        ({f"equation_S{number:02}": Outcome.NOT_REACHED for number in range(14, 27)}, 48, 48),
    ],
)
def test_each_mistake_takes_its_points_once(
    ended: dict[str, tuple[Outcome, Sequence[str]] | Outcome], each: float, severity: float
) -> None:
    assert (earned("each", **ended), earned("severity", **ended)) == (each, severity)


def test_a_stage_is_right_or_wrong_as_a_whole() -> None:
    assert earned("stages", invariant_S13=Outcome.FAILED) == 96
    assert earned("stages", invariant_S13=Outcome.FAILED, equation_S13=Outcome.FAILED) == 96
    assert earned("parts", equation_S02=Outcome.FAILED) == pytest.approx(100 - 20 / 3, abs=0.01)


def test_what_is_paid_for_beside_is_no_mistake_as_well() -> None:
    assert earned("beside", prints=Outcome.FAILED) == 90


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (
            "[points.parts]\nattention = 50\n[points.stages]\nS12 = 5",
            "keep [points.parts] or [points.stages]",
        ),
        ("[points]\nequations = 5\n[points.mistakes]\neach = 5", "what equations pays for"),
        ("[points]\nprints = 5\n[points.parts]\nstyle = 5", "what prints pays for"),
        ("[points.mistakes]\neach = 5\nminor = 1", "each and a severity"),
        ("[points.parts]\natention = 5", "did you mean attention"),
        ("[points.stages]\nS99 = 5", "S99"),
        ("[points.mistakes]\nat_mots = 5", "at_most"),
    ],
)
def test_what_cannot_be_paid_so_is_said(points: str, message: str) -> None:
    text = f'name = "x"\ntitle = "x"\narchitectures = ["pre-norm"]\n{points}\n[sizes]\npreset = "B/16"\n'
    with pytest.raises(AssignmentError) as refused:
        parse_assignment(text, "x.toml")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "change",
    [
        {"points": SCHEMES["parts"]},
        {"title": "another"},
        {"visibility": {"properties": Visibility.HIDDEN}},
    ],
)
def test_nothing_is_judged_otherwise_for_points_and_texts(change: dict[str, object]) -> None:
    assert judging_digest(VIT.model_copy(update=change)) == judging_digest(VIT)


@pytest.mark.parametrize("change", [{"examples": 3}, {"architectures": ("report",)}])
def test_what_is_asked_is_judged(change: dict[str, object]) -> None:
    assert judging_digest(VIT.model_copy(update=change)) != judging_digest(VIT)


def test_titles_and_visibility_are_those_of_today() -> None:
    hidden = VIT.model_copy(update={"title": "another", "visibility": {"properties": Visibility.HIDDEN}})
    result = scored(scored(record(), VIT), hidden)
    assert result.asked is not None
    assert result.asked.title == "another"
    assert {one.visibility for one in result.checks if one.id.startswith("property")} == {Visibility.HIDDEN}
