"""Whether a component is right: its shapes, its parameters, every stage between input and output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ...reference.stages import stage
from ...submissions.errors import Frame
from ..examining.verdicts import CheckFailed, CheckOutcome, NotApplicable, NotReached
from ..locating.search.shapes import shaped
from ..rules.invariants import INVARIANTS
from ..rules.kinds.equation import check_equation
from ..rules.kinds.invariant import check_invariant
from ..rules.properties.passes import some
from .component import ComponentExamination


@dataclass(frozen=True)
class Fault:
    """What is wrong with a component; ``stage`` is a key, or None where it is about all of it.

    ``aspect`` is the one that it costs, None where it costs all.
    """

    message: str
    aspect: str | None = None
    stage: str | None = None
    mistakes: tuple[str, ...] = ()
    frame: Frame | None = None


def faults(component: ComponentExamination) -> list[Fault]:
    """All that is wrong with it, the most telling first; nothing where it is right.

    Raises StudentCodeFailed where it could not be built.
    """
    return [*_crash(component), *_stages(component), *_whole(component)]


def _crash(component: ComponentExamination) -> Iterator[Fault]:
    if component.crash is not None:
        frame = next(iter(component.crash.frames), component.candidate.frame)
        told = f"it raises an exception when it is called: {component.crash}"
        yield Fault(told, stage=component.stopped_at, frame=frame)


def _stages(component: ComponentExamination) -> Iterator[Fault]:
    if component.crash is not None:
        return
    for key in component.row.stages:
        yield from _of_stage(component, key)


def _of_stage(component: ComponentExamination, key: str) -> Iterator[Fault]:
    checks: list[Callable[[ComponentExamination, str], None]] = [check_equation]
    checks += [check_invariant] if key in INVARIANTS else []
    for check in checks:
        try:
            check(component, key)
        except CheckFailed as failed:
            yield Fault(failed.message, "values", key, failed.mistakes)
        except (NotReached, NotApplicable):
            continue


def _whole(component: ComponentExamination) -> Iterator[Fault]:
    if component.crash is None:
        ended = not component.unfinished  # what returns nothing has no values that could be right
        yield from (one if ended else replace(one, aspect=None) for one in _output(component))
        if ended and not component.candidate.function:  # which is handed its own
            yield from _count(component)
            yield from _gradients(component)


def _output(component: ComponentExamination) -> Iterator[Fault]:
    """The shape of what is returned, at the sizes of the assignment and at those that were drawn."""
    row = component.row
    full = component.session.sizes_for(component.assignment.full)
    places = [(full, component.session.trace(full, component.seed))]
    places += [(one.draw.sizes, one.trace) for one in component.examples[:1]]
    for sizes, trace in places:
        shapes = [list(where.shape) for _, where in trace.outputs]
        expected = list(row.output_shape(sizes))
        if trace.error is not None:
            yield Fault(f"it fails on an input of {shaped(row.input_shape(sizes))}: {trace.error}", "shape")
            return
        if expected not in shapes:
            seen = ", ".join(map(shaped, shapes)) or "no tensor"
            given = shaped(row.input_shape(sizes))
            told = f"given {given}, expected {shaped(expected)} ({row.output}), got {seen}"
            yield Fault(told, "shape")
            return


def _count(component: ComponentExamination) -> Iterator[Fault]:
    """How many trainable numbers a class has."""
    sizes = component.first_draw.sizes
    expected = component.row.parameter_count(sizes)
    if expected is None:
        return
    count = component.session.parameter_count(sizes)
    if count != expected:
        told = (
            (f"{expected} trainable parameters ({component.row.parameters})") if expected else "no parameters"
        )
        yield Fault(f"at width {sizes.embed_dim} expected {told}, got {count}", "parameters")


def _gradients(component: ComponentExamination) -> Iterator[Fault]:
    """A backward pass gives every parameter that asks for it a gradient."""
    draw = component.first_draw
    passes = component.forward(draw, [component.input(draw)], backward=True)
    if passes.error is not None:
        yield Fault(f"its backward pass fails: {passes.error}", "parameters")
    missing = [name for name, one in passes.gradients.items() if one.asked and not one.exists]
    if missing:
        yield Fault(f"no gradient reaches {some(missing)}", "parameters")


def stage_outcomes(found: Sequence[Fault]) -> list[CheckOutcome]:
    """The faults of stages, as checks that failed there."""
    return [
        CheckOutcome(
            f"equation[{stage(one.stage).label}]", one.stage, "", "failed", one.message, one.mistakes
        )
        for one in found
        if one.stage is not None
    ]
