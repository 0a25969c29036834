"""The sample submissions get the verdicts that they were written for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.result import Outcome, Result, StageStatus, Status
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.reading.source import find_submissions

FOLDER = Path(__file__).parents[2] / "submissions" / "examples"


@dataclass(frozen=True)
class Verdict:
    """What an example gets; ``failed`` pairs each stage that fails with the mistake named first."""

    failed: tuple[tuple[str, str], ...] = ()
    status: Status = Status.GRADED
    reason: str | None = None  # a part of the sentence
    line: int | None = None
    checks: frozenset[str] = frozenset()  # that fail though every stage is right


CORRECT = Verdict()
EXAMPLES = {
    "archive.zip": CORRECT,
    "fused_attention.py": CORRECT,
    "notebook.ipynb": CORRECT,
    "package": CORRECT,
    "prenorm_conv.py": CORRECT,
    "report_block.py": CORRECT,
    "script.py": CORRECT,
    "script_beside_library.py": CORRECT,
    "heads_merged_wrong.py": Verdict((("S15", "heads-merged-without-transpose"),)),
    "random_qkv.py": Verdict(tuple((label, "stage-made-up") for label in ("S09", "S10", "S11"))),
    "script_random_qkv.py": Verdict(tuple((label, "stage-made-up") for label in ("S09", "S10", "S11"))),
    "scale_by_width.py": Verdict((("S12", "scale-by-embed-dim"),)),
    "token_at_end.py": Verdict((("S06", "cls-appended-last"),)),
    "two_mistakes.py": Verdict((("S13", "softmax-over-queries"), ("S19", "residual-mlp-from-block-input"))),
    "prints_everywhere.py": Verdict(
        checks=frozenset({"breakpoint[S12]", "breakpoint[S18]", "breakpoint[S21]", "prints"})
    ),
    "endless_loop.py": Verdict(status=Status.TIMED_OUT, reason="still running"),
    "missing_import.py": Verdict(
        status=Status.NOT_LOADED, reason="'vit_helpers_xyz', which is not installed", line=7
    ),
    "no_model.py": Verdict(status=Status.NOT_LOADED, reason="no model"),
    "syntax_error.py": Verdict(status=Status.NOT_LOADED, reason="syntax error", line=57),
}
ASSIGNMENT = load_assignment("vit-debugging").model_copy(update={"examples": 4})  # for speed
# of what never ends; importing torchvision alone takes longer on a busy machine
SHORT = replace(ASSIGNMENT.limits, import_seconds=3, request_seconds=3)


def failed_stages(result: Result) -> list[tuple[str, str | None]]:
    return [
        (label, next(iter(stage.mistakes), None))
        for label, stage in sorted(result.stages.items())
        if stage.status is StageStatus.FAILED
    ]


def test_each_example_has_its_verdict() -> None:
    assert {path.name for path in find_submissions([FOLDER])} == set(EXAMPLES)


@pytest.mark.parametrize("name", [name for name, verdict in EXAMPLES.items() if verdict is CORRECT])
def test_a_correct_example_gets_all_points(name: str, zygote: Zygote) -> None:
    result = grade(FOLDER / name, ASSIGNMENT, zygote=zygote, seed=1)
    assert (result.status, result.reason) == (Status.GRADED, None)
    assert failed_stages(result) == []
    assert result.mistakes == []
    assert {check.outcome for check in result.checks} <= {Outcome.PASSED, Outcome.SKIPPED}
    assert (result.score.earned, result.score.possible) == pytest.approx((100, 100))


@pytest.mark.parametrize("name", [name for name, verdict in EXAMPLES.items() if verdict.failed])
def test_a_mistake_is_named_at_its_stage_alone(name: str, zygote: Zygote) -> None:
    result = grade(FOLDER / name, ASSIGNMENT, zygote=zygote, seed=1)
    assert result.status is Status.GRADED
    assert failed_stages(result) == list(EXAMPLES[name].failed)
    assert result.mistakes[0].id == EXAMPLES[name].failed[0][1]
    assert result.score.earned < result.score.possible


@pytest.mark.parametrize("name", [name for name, verdict in EXAMPLES.items() if verdict.checks])
def test_broken_rules_cost_their_points_and_no_stage(name: str, zygote: Zygote) -> None:
    result = grade(FOLDER / name, ASSIGNMENT, zygote=zygote, seed=1)
    assert failed_stages(result) == []
    broken = (Outcome.FAILED, Outcome.MISSING)
    assert {check.id for check in result.checks if check.outcome in broken} == EXAMPLES[name].checks


@pytest.mark.parametrize(
    "name", [name for name, verdict in EXAMPLES.items() if verdict.status is not Status.GRADED]
)
def test_what_cannot_be_graded_says_why(name: str, zygote: Zygote) -> None:
    verdict = EXAMPLES[name]
    limits = SHORT if verdict.status is Status.TIMED_OUT else ASSIGNMENT.limits
    assignment = ASSIGNMENT.model_copy(update={"limits": limits})
    result = grade(FOLDER / name, assignment, zygote=zygote, seed=1)
    assert result.status is verdict.status
    assert verdict.reason is not None
    assert verdict.reason in (result.reason or "")
    assert (result.location.line if result.location else None) == verdict.line
    assert result.score.earned == 0


@pytest.mark.parametrize(
    ("assignment", "name", "wrong"),
    [
        ("vit-basics", "components", {}),
        (
            "vit-basics",
            "token_last_wrong_softmax",
            {
                "component[class_token.values]": "cls-appended-last",
                "component[attention.values]": "softmax-over-queries",
                "component[block.values]": "softmax-over-queries",
            },
        ),
        ("vit-rollout", "course_functions", {}),
        (
            "vit-rollout",
            "reversed_order",
            {
                "exercise[attention_rollout]": "rollout-order-reversed",
                "exercise[position_similarity]": "similarity-drops-last-token",
            },
        ),
    ],
)
def test_examples_of_parts(assignment: str, name: str, wrong: dict[str, str], zygote: Zygote) -> None:
    folder = FOLDER.with_name(assignment.replace("vit", "examples"))
    result = grade(folder / f"{name}.py", load_assignment(assignment), zygote=zygote, seed=1)
    assert {one.id for one in result.checks if one.outcome is not Outcome.PASSED} == wrong.keys()
    assert {one.id for one in result.mistakes} == set(wrong.values())
    assert all(one.location is not None for one in result.mistakes)
    assert result.score.possible == 100
    assert result.score.earned == sum(one.points for one in result.checks if one.id not in wrong)
