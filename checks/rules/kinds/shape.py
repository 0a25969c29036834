"""A stage against the shape that it has at the assignment's full size."""

from __future__ import annotations

from collections.abc import Sequence

from ....reference.stages import Stage
from ...assignment.kinds import Kind
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed
from ..check import each_stage
from ..judging import demand

_MISTAKES = {"mlp_hidden": "mlp-ratio-wrong"}


@each_stage(
    Kind(
        id="shape",
        group="shapes",
        pays_for="every stage has its shape",
        order=10,
        judges_stage=True,
    )
)
def check_shape(examination: Examination, key: str) -> None:
    """Has the shape that the assignment's sizes give."""
    row = examination.family.stage(key)
    demand(examination, row)
    full = examination.full_shapes()
    if full.failure is not None:
        raise CheckFailed(f"at the assignment's full size the model fails: {full.failure}")
    shape, expected = shape_and_expected(examination, row)
    if shape != expected:
        faults = examination.faults(key) or ([_MISTAKES[key]] if key in _MISTAKES else [])
        raise CheckFailed(f"{_named(row, expected)} was expected, and {list(shape or ())} is there", faults)


def shape_and_expected(
    examination: Examination, row: Stage
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """At full size where the model runs there, else at the sizes of the first example."""
    full = examination.full_shapes().shapes.get(row.key)
    if full is not None:
        return full, row.shape(examination.assignment.full)
    example = examination.examples[0]
    seen = example.first(row.key)
    if seen is None:
        return None, row.shape(examination.assignment.full)
    return tuple(seen.student.shape), row.shape(example.draw.sizes)


def _named(row: Stage, shape: Sequence[int]) -> str:
    return " × ".join(f"{letter} {size}" for letter, size in zip(row.axes.split(), shape))
