"""A stage against the reference that carries the student's parameters."""

from __future__ import annotations

from itertools import takewhile

from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.passes.replay import Seen
from ...examining.verdicts import CheckFailed, NotAsked, NotReached
from ...locating.comparing import ROUNDING, SINGLE
from ...locating.steps import Step
from ..declaring import each_stage
from ..differing import difference
from ..judging import demand


@each_stage(
    Kind(
        id="reference",
        group="reference",
        pays_for="agreement with the reference model",
        order=40,
    )
)
def check_reference(examination: Examination, key: str) -> None:
    """Equals the reference model with the same weights.

    Else: differs from the reference model with the same weights
    """
    row = examination.family.stage(key)
    demand(examination, row)
    before = examination.failed_before(key)
    if before is not None:
        raise NotReached(f"not compared: {before} is already wrong")
    for example in examination.examples[:2]:
        for seen in example.all(key):
            right = example.reference.get((key, seen.step.block))
            if right is None:
                raise _without_right(example)
            compared = Seen(seen.step, seen.student, right)
            tolerance = SINGLE if example.walk.single else ROUNDING
            if compared.differs(tolerance) and not _has_parted(example, seen.step):
                told = difference(row, compared, example.draw.sizes)
                raise CheckFailed(told, examination.faults(key), example.draw)


def _without_right(example: Example) -> NotAsked | NotReached:
    """The reference cannot go on with the student's parameters."""
    if found := [one.id for step in example.walk.steps for one in step.findings]:
        return NotAsked(f"the reference model does not have {found[0]}")
    return NotReached("your parameters do not fit into the reference model here")


def _has_parted(example: Example, step: Step) -> bool:
    """Variants that the assignment accepts part from the reference by intent, earlier faults as well."""
    before = takewhile(lambda one: one is not step, example.walk.steps)
    return any(one.findings for one in example.walk.steps) or not all(one.explained for one in before)
