"""A stage against the shape that it has at the assignment's full size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....reference.model_sizes import ModelSizes
from ....reference.stages import Stage
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.placing import made_at
from ...examining.verdicts import CheckFailed, NotReached
from ...locating.search.shapes import at_test_sizes, labelled, shaped
from ..declaring import each_stage
from ..judging import demand

_MISTAKES = {"mlp_hidden": "mlp-ratio-wrong"}
_FOLLOWING = {"N": "T", "D": "d"}  # axes whose size follows from another's


@each_stage(
    Kind(
        id="shape",
        group="shapes",
        pays_for="every stage has the expected shape",
        order=10,
        severity="major",
        judges_stage=True,
    )
)
def check_shape(examination: Examination, key: str) -> None:
    """Has the expected shape at full size.

    Else: wrong shape at full size
    """
    row = examination.family.stage(key)
    demand(examination, row)
    _demand_no_failure(examination, key)
    shape, expected = shape_and_expected(examination, row)
    if shape != expected:
        faults = examination.faults(key) or ([_MISTAKES[key]] if key in _MISTAKES else [])
        got = "no tensor" if shape is None else shaped(shape)
        text = f"Expected {labelled(row.axes, expected)}, got {got}{_where(examination, row)}."
        steps = (one for one in examination.walk.steps if one.key == key)
        made = next((made_at(examination, one, faults) for one in steps), None)
        raise CheckFailed(text, faults, frame=made)


def _demand_no_failure(examination: Examination, key: str) -> None:
    """Where the model fails at full size, the first stage that it does not come to is to blame."""
    full = examination.full_shapes()
    if full.failure is None or key in full.shapes:
        return
    given = {examination.family.input_key, *full.shapes, *examination.absent}
    if key == next(one.key for one in examination.family.stages if one.key not in given):
        text = f"at the assignment's full size the model fails: {full.failure}"
        raise CheckFailed(text, frame=full.failure.frame)
    raise NotReached("at the assignment's full size the model fails before it")


def shape_and_expected(
    examination: Examination, row: Stage
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """At full size where the model runs there, else at the sizes of the first example."""
    full = examination.full_shapes()
    example = examination.examples[0]
    if row.key in full.shapes or example.first(row.key) is None:
        shapes, sizes = full.shapes, _full_sizes(examination)
    else:
        found = {one.step.key: tuple(one.student.shape) for one in example.seen}
        shapes, sizes = found, example.draw.sizes
    shape, expected = shapes.get(row.key), row.shape(sizes)
    return shape, expected if shape in (expected, None) else _as_accepted(examination, row, shapes, sizes)


def _full_sizes(examination: Examination) -> ModelSizes:
    """The assignment's, or where it asks for none the nearest to them that the model has."""
    own = examination.full_shapes().sizes
    return (
        examination.assignment.full
        if own is None or examination.assignment.asks_sizes
        else replace(own, batch=1)
    )


def _as_accepted(
    examination: Examination, row: Stage, shapes: Mapping[str, Sequence[int]], sizes: ModelSizes
) -> tuple[int, ...]:
    """With axes as they are seen from a stage on, where it is earlier or an accepted variant changes them."""
    changed: dict[str, int] = {}
    # where no sizes are asked for, heads may be as wide as the code says
    following = set[str]() if examination.assignment.asks_sizes else {"d"}
    for earlier in examination.family.stages:
        usual = dict(zip(earlier.axes.split(), earlier.shape(sizes)))
        seen = dict(zip(usual, shapes.get(earlier.key, ())))
        here = earlier.key == row.key  # what is wrong of an earlier stage is said there
        free = following if here and not examination.accepted_at(row.key) else set(usual)
        new = {one: seen[one] for one in free & set(seen) - set(changed) if seen[one] != usual[one]}
        following = following - set(seen) | {_FOLLOWING[one] for one in new if one in _FOLLOWING}
        changed |= new
        if earlier.key == row.key:
            break
    return tuple(changed.get(letter, size) for letter, size in zip(row.axes.split(), row.shape(sizes)))


def _where(examination: Examination, row: Stage) -> str:
    """At which sizes, where these are not the assignment's."""
    example = examination.examples[0]
    is_full = row.key in examination.full_shapes().shapes or example.first(row.key) is None
    return "" if is_full else f" {at_test_sizes(example.draw.sizes)}"
