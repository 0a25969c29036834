"""A stage against what its equation gives from the student's own earlier stages and parameters."""

from __future__ import annotations

from collections.abc import Sequence

from ....reference.model_sizes import ModelSizes
from ....submissions.errors import StudentCodeFailed, SubmissionError
from ....submissions.questions.size_limits import is_large
from ...assignment.kinds import Kind
from ...examining.dependence import dependence
from ...examining.drawing import Draw, small_draw
from ...examining.examination import Examination
from ...examining.passes.replay import Seen
from ...examining.shown.returned_paths import demand_any_returned, demand_returned
from ...examining.verdicts import CheckFailed
from ...locating.comparing import ROUNDING
from ...locating.steps import Step
from ..declaring import each_stage
from ..differing import difference
from ..judging import demand


@each_stage(
    Kind(
        id="equation",
        group="equations",
        pays_for="every stage equals its equation, applied to your own earlier stages",
        order=20,
        severity="major",
        judges_stage=True,
    )
)
def check_equation(examination: Examination, key: str) -> None:
    """Equals its equation, applied to your own earlier stages.

    Else: differs from its equation
    """
    row = examination.family.stage(key)
    seen = demand(examination, row)
    for false in examination.false_claims():
        if false.finding.stage == key:
            raise CheckFailed(false.message, (false.finding.id,), examination.first_draw)
    if constant := examination.constants().get(key):
        ids = () if constant.id is None else (constant.id,)
        if not ids or examination.counts(ids[0]):
            raise CheckFailed(constant.message, ids, examination.first_draw)
    if key == "logits":
        demand_any_returned(examination)
    faults = examination.faults(key)
    if faults:
        draw = _smallest_fault(examination, key, faults)
        sizes, worst = _worst(examination, key) or (examination.examples[0].draw.sizes, seen)
        raise CheckFailed(difference(row, worst, sizes), faults, draw)
    for example in examination.examples:
        if example.walk.lost and example.walk.unexplained and example.walk.unexplained[0] == key:
            raise CheckFailed(example.walk.lost, (), example.draw)
        for found in example.all(key):
            if not found.step.explained:
                apart = difference(row, found, example.draw.sizes, ratio=not found.step.message)
                told = (found.step.message, _depends(examination, found.step), apart)
                raise CheckFailed(" ".join(filter(None, told)), (), example.draw)
            if found.differs(ROUNDING) and not found.step.findings:
                raise CheckFailed(difference(row, found, example.draw.sizes), (), example.draw)
    if key == "logits":
        demand_returned(examination)


def _depends(examination: Examination, step: Step) -> str:
    """Measured for the first stage that nothing explains: what follows is fed by it."""
    first = next((one for one in examination.walk.steps if not one.explained), None)
    return dependence(examination, step) if step is first else ""


def _worst(examination: Examination, key: str) -> tuple[ModelSizes, Seen] | None:
    """The first sight of a stage that differs from its equation, and the sizes of its example."""
    for example in examination.examples:
        for seen in example.all(key):
            if seen.differs(ROUNDING):
                return example.draw.sizes, seen
    return None


def _smallest_fault(examination: Examination, key: str, faults: Sequence[str]) -> Draw:
    """The smallest sizes at which the mistake still shows."""

    def fails(draw: Draw) -> bool:
        if examination.is_exhausted:
            return False
        try:
            example = examination.example(examination.buildable(draw))
        except (StudentCodeFailed, SubmissionError):
            return False
        found = {one.id for step in example.walk.steps for one in step.findings if one.stage == key}
        return bool(found & set(faults))

    draw = None
    # a model that is large at the smallest draw has its sizes in its code
    if not is_large(examination.first_draw.sizes) and examination.may_shrink(faults[0]):
        draw = small_draw(examination.seed, examination.family)
        if not fails(draw):
            # here, since it loads hypothesis, and few submissions need it
            from ...examining.passes.shrinking import smallest

            draw = smallest(fails, examination.seed, examination.family)
    return examination.first_draw if draw is None else examination.buildable(draw)
