"""How near two tensors are, as every measured relation needs it."""

from __future__ import annotations

import torch
from torch import Tensor

from ..comparing import RELATION

_NAN, _INFINITE = 31.0, 17.0  # of the size of scores, or nothing else would be seen beside them
_FEW = 64  # numbers that refute nearly every relation between two tensors of thousands
GIVEN = "what the equation gives"


def same(a: Tensor, b: Tensor, scale: float | None = None) -> bool:
    """Equal but for rounding, relative to ``scale`` or to the largest number of ``b``."""
    size = float(b.abs().max()) if scale is None else scale
    return bool((a - b).abs().max() <= RELATION * size)


def apart(a: Tensor, b: Tensor, scale: float) -> Tensor:
    """For each index of the first axis whether the two differ there."""
    return (a - b).abs().flatten(1).amax(1) > RELATION * scale


def factor(student: Tensor, right: Tensor) -> tuple[float, float]:
    """The multiple of ``right`` nearest to ``student``, and the share that it leaves over (0 to 1)."""
    size = float(right.square().sum())
    best = float((student * right).sum()) / size if size else 0.0
    rest = float((student - best * right).norm())
    return best, rest / (float(student.norm()) or 1.0)


def few(*tensors: Tensor) -> list[Tensor]:
    """The same numbers of each, spread over all, with the largest of the first: it is the scale."""
    step = max(1, tensors[0].numel() // _FEW)
    largest = tensors[0].abs().argmax()
    return [torch.cat([one.flatten()[::step], one.flatten()[largest, None]]) for one in tensors]


def fingerprint(tensor: Tensor) -> tuple[tuple[int, ...], str]:
    """Alike for tensors of one shape that are equal but for rounding, and of others by chance alone."""
    weights = torch.linspace(1.0, 2.0, tensor.numel(), dtype=tensor.dtype)
    numbers = tensor.flatten().nan_to_num(nan=_NAN, posinf=_INFINITE, neginf=-_INFINITE)  # as a mask has them
    return tuple(tensor.shape), f"{float(numbers @ weights):.6g}"


def number(value: float) -> str:
    """With four digits, and a plain 0 for what is only rounding."""
    return f"{value:.4g}" if abs(value) > 1e-12 else "0"
