"""What can be said of a tensor that no known equation gives: numbers only, no diagnosis."""

from __future__ import annotations

import torch
from torch import Tensor

_CLOSE = (
    1e-6  # relative; what is left of a fit in float64 is far below, what a real difference leaves far above
)
_AXES = {-1: "keys", -2: "queries", 1: "heads", 0: "images"}  # of a tensor over all pairs of tokens


def measured(student: Tensor, right: Tensor) -> str:
    """One sentence on how the student's tensor and the right one relate."""
    if student.shape != right.shape:
        return f"Its shape is {_shape(student)}, and the equation gives {_shape(right)}."
    for told in (_multiple(student, right), _reordered(student, right), _zeros(student, right)):
        if told:
            return told + _sums(student)
    return f"It is no multiple and no reordering of what the equation gives.{_sums(student)}"


def factor(student: Tensor, right: Tensor) -> tuple[float, float]:
    """The multiple of ``right`` nearest to ``student``, and the share that it leaves over (0 to 1)."""
    size = float(right.square().sum())
    best = float((student * right).sum()) / size if size else 0.0
    rest = float((student - best * right).norm())
    return best, rest / (float(student.norm()) or 1.0)


def _multiple(student: Tensor, right: Tensor) -> str:
    best, rest = factor(student, right)
    return f"It is {best:.4g} times what the equation gives." if rest < _CLOSE and best else ""


def _reordered(student: Tensor, right: Tensor) -> str:
    same = torch.allclose(student.flatten().sort()[0], right.flatten().sort()[0], rtol=_CLOSE, atol=0.0)
    return "It holds the numbers that the equation gives, in another order." if same else ""


def _zeros(student: Tensor, right: Tensor) -> str:
    kept = student != 0
    dropped = int((~kept).sum())
    if not dropped or not bool(kept.any()):
        return ""
    best, rest = factor(student[kept], right[kept])
    if rest >= _CLOSE:
        return ""
    told = f"{dropped} of its {student.numel()} numbers are 0"
    return f"{told}, the others {best:.4g} times what the equation gives."


def _sums(student: Tensor) -> str:
    """Along which axis a tensor over all pairs of tokens sums to 1."""
    if student.dim() != 4 or student.shape[-1] != student.shape[-2]:
        return ""
    axes = [name for axis, name in _AXES.items() if bool(((student.sum(axis) - 1).abs() < _CLOSE).all())]
    return f" It sums to 1 over {axes[0]}." if axes else " It sums to 1 along no axis."


def _shape(x: Tensor) -> str:
    return " by ".join(map(str, x.shape))
