"""What the checks of a stage share: the stage as it was seen."""

from __future__ import annotations

from ...reference.stages import Stage
from ..examining.crashes.crashing import ADVICE, UNEXPLAINED
from ..examining.examination import Examination
from ..examining.passes.replay import Seen
from ..examining.passes.steadiness import demand_steady
from ..examining.shown import beside
from ..examining.verdicts import CheckFailed, NotAsked, NotReached

_NO_SECOND = "depth-off-by-one"  # where S21 is in no pass
_NOT_FOLLOWED = "Either it is wrong in a way that has no name, or vitcheck cannot follow how it is computed."


def demand(examination: Examination, row: Stage) -> Seen:
    """The stage as it was seen in block 1. Raises NotReached where the walk never came to it."""
    if examination.unfinished and row.key in examination.to_write:
        raise NotReached(examination.unfinished.message)
    crash = examination.diagnosis
    if crash is not None and row.key == crash.stage:
        raise CheckFailed(crash.message, examination.faults(row.key))
    if row.key in examination.absent:
        raise NotAsked("this model does not have this stage, and does not need it")
    seen = examination.examples[0].first(row.key)
    if row.key in examination.missing:
        raise _missing(examination, row)
    if seen is not None:
        demand_steady(examination.parted, examination.examples[0], row.key)
        if row.key in examination.beside():
            raise CheckFailed(beside.MESSAGE, (), examination.first_draw)
        return seen
    if crash is not None:
        raise NotReached("the forward pass stopped before it")
    raise NotAsked("this architecture does not have this stage")


def demand_finished(examination: Examination) -> None:
    """Raises NotReached of a model of which some is to come."""
    if examination.unfinished:
        raise NotReached("asked once the model is finished")


def _is_finished(examination: Examination) -> bool:
    """Does the pass come to an end with what may be class scores?"""
    trace, asked = examination.first.trace, examination.first_draw.sizes.output_shape
    return examination.crash is None and any(where.shape == asked for _, where in trace.outputs)


def _missing(examination: Examination, row: Stage) -> Exception:
    """Where the walk is stuck, or else the first stage that the pass goes on without, is to blame."""
    stuck = examination.walk.unexplained
    first, block = next(iter(examination.missing.items())) if stuck is None else stuck
    where = f"in block {block}" if block else "here"
    if row.key != first:
        before = examination.failed_before(row.key)
        return NotReached(f"not checked: nothing after {before or 'an earlier stage'} was recognised")
    if _NO_SECOND in examination.walk.ids and row.key == "second_block_output":
        return NotReached("not checked: no second block runs")
    if stuck is not None:
        advice = _NOT_FOLLOWED if _is_finished(examination) else ADVICE
        return CheckFailed(examination.walk.lost or f"{UNEXPLAINED} {where}. {advice}")
    return CheckFailed(
        f"This stage was not found {where}: your forward pass leaves it out, or computes it in a way"
        " that vitcheck cannot follow."
    )
