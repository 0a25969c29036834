"""Whether what a function returned is one of the answers that are known."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ...submissions.questions.part_questions import FunctionOutputs
from ..locating.comparing import ITERATED, PLOTTED, ROUNDING, equal
from ..locating.search.shapes import shaped
from .trials import Answer, Trial

_SHAPES_TOLD = 4


def answer_of(trial: Trial, returned: FunctionOutputs) -> Answer | None:
    """The first known answer that one of the returned tensors is, or all of them together are."""
    tolerance = ITERATED if trial.signs else _tolerance(returned)
    for ids, expected in trial.answers:
        for student in _tensors(returned):
            same = _same_rows if trial.signs else _same
            if same(student, expected, tolerance):
                return ids, expected
    return None


def _tolerance(returned: FunctionOutputs) -> float:
    return max((ROUNDING if one == "float64" else PLOTTED for one in returned.dtypes), default=0.0)


def _tensors(returned: FunctionOutputs) -> Iterator[Tensor]:
    """Each of them, and all of one shape in a stack."""
    yield from returned.tensors
    if len({one.shape for one in returned.tensors}) == 1 and len(returned.tensors) > 1:
        yield torch.stack(returned.tensors)


def _same(student: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Axes of size 1 aside."""
    return equal(student.squeeze(), expected.squeeze(), tolerance)


def _same_rows(student: Tensor, expected: Tensor, tolerance: float) -> bool:
    """Rows of length 1 up to their sign, however each row is cut, stretched, or laid out."""
    return any(
        form.shape == expected.shape and _same(_turned(form), _turned(expected), tolerance)
        for form in _as_rows(student, expected.shape[0])
    )


def _as_rows(student: Tensor, count: int) -> Iterator[Tensor]:
    """As rows, as columns, or as pictures with the channels last."""
    if student.dim() == 2:
        yield student
        yield student.mT
    if student.dim() == 4:
        yield student.flatten(1)
        yield student.permute(0, 3, 1, 2).flatten(1)


def _turned(rows: Tensor) -> Tensor:
    unit: Tensor = rows / rows.norm(dim=-1, keepdim=True)
    largest: Tensor = unit.gather(-1, unit.abs().argmax(-1, keepdim=True))
    return unit * largest.sign()


def told(trial: Trial, returned: FunctionOutputs) -> str:
    """What came back, beside what was expected."""
    right = [tensor for ids, tensor in trial.answers if not ids]
    alike = (
        (student, expected)
        for student in _tensors(returned)
        for expected in right
        if student.squeeze().shape == expected.squeeze().shape
    )
    pair = next(alike, None)
    if pair is None:
        seen = ", ".join(shaped(one.shape) for one in returned.tensors[:_SHAPES_TOLD]) or "no tensor"
        return f"Expected the shape {shaped(right[0].shape)}, got {seen}."
    error, largest = (pair[0].squeeze() - pair[1].squeeze()).abs().max(), pair[1].abs().max()
    return (
        f"The shape {shaped(pair[0].shape)} is right, but values differ by up to {float(error):.3g};"
        f" the largest should be {float(largest):.3g}."
    )
