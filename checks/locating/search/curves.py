"""Is each number of a tensor a function of the number in its place in another tensor?"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from .nearness import GIVEN, factor, few, number, same

_ENOUGH = 12  # numbers, before an order that agrees is no accident

_CURVES: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
    ("the size without the sign of", torch.abs),
    ("the square of", torch.square),
    ("the cube of", lambda x: x**3),
    ("the root of", torch.sqrt),
    ("the signed root of", lambda x: x.sign() * x.abs().sqrt()),
    ("exp of", torch.exp),
    ("log of", torch.log),
    ("log1p of", torch.log1p),
    ("tanh of", torch.tanh),
    ("sigmoid of", torch.sigmoid),
    ("softplus of", F.softplus),
    ("ELU of", F.elu),
    ("GELU of", F.gelu),
    ("SiLU of", F.silu),
    ("sin of", torch.sin),
    ("cos of", torch.cos),
    ("the inverse of", torch.reciprocal),
    ("the sign of", torch.sign),
)


def curve(student: Tensor, right: Tensor) -> str:
    """A named function, with a factor if need be; else any that keeps the order of numbers."""
    some, given = few(student, right)
    for name, function in _CURVES:
        if not _is_multiple(some, function(given)):
            continue
        expected = function(right)
        if not bool(torch.isfinite(expected).all()):
            continue
        best, _ = factor(student, expected)
        if best and same(student, best * expected):
            times = "" if same(student, expected) else f"{number(best)} times "
            return f"is {times}{name} {GIVEN}"
    more = (_powered, _clamped, _bent, _rounded, _normed, _monotone)
    return next(filter(None, (one(student, right) for one in more)), "")


def _is_multiple(student: Tensor, right: Tensor) -> bool:
    return same(student, factor(student, right)[0] * right)


def _clamped(student: Tensor, right: Tensor) -> str:
    low, high = float(student.min()), float(student.max())
    if not same(student, right.clamp(low, high), float(right.abs().max())):
        return ""
    ends = [f"at least {number(low)}"] if low > float(right.min()) else []
    ends += [f"at most {number(high)}"] if high < float(right.max()) else []
    return f"is {GIVEN}, clamped to be {' and '.join(ends)}" if ends else ""


def _bent(student: Tensor, right: Tensor) -> str:
    """One factor above 0 and another one below, as a leaky ReLU has."""
    above, below = right > 0, right < 0
    if not bool(above.any()) or not bool(below.any()):
        return ""
    up, down = factor(student[above], right[above])[0], factor(student[below], right[below])[0]
    if not same(student, torch.where(above, up * right, down * right)):
        return ""
    return f"is {number(up)} times {GIVEN} where that is positive, and {number(down)} times where negative"


def _rounded(student: Tensor, right: Tensor) -> str:
    for digits in range(4):
        if torch.equal(student, right.round(decimals=digits)):
            return f"is {GIVEN}, rounded to {digits} decimals"
    if torch.equal(student, right.trunc()):
        return f"is {GIVEN} with its decimals cut off"
    for name, dtype in (("float16", torch.float16), ("bfloat16", torch.bfloat16), ("float32", torch.float32)):
        # sums in that precision end a few units in the last place away; a few hundredths may be anything
        near = float((student - right).abs().max()) <= 8 * torch.finfo(dtype).eps * float(right.abs().max())
        if near and (dtype == torch.float32 or torch.equal(student, student.to(dtype).to(student.dtype))):
            return f"agrees with {GIVEN} as far as {name} goes: it has lost precision"
    return ""


def _normed(student: Tensor, right: Tensor) -> str:
    """Each last axis divided by a length or a spread of its own."""
    for axes, what in (((-1,), "along the last axis"), ((-2,), "along the axis before the last")):
        if right.dim() < 2 or right.shape[axes[0]] < 2:
            continue
        centred = right - right.mean(axes, keepdim=True)
        for text, one in (
            ("scaled to length 1", right / right.norm(dim=axes, keepdim=True)),
            ("minus its mean", centred),
            ("divided by its sum", right / right.sum(axes, keepdim=True)),
            ("standardised", centred / centred.square().mean(axes, keepdim=True).sqrt()),
            ("after a softmax", right.softmax(axes[0])),
        ):
            if _alike(student, one):
                return f"is {GIVEN}, {text} {what}"
    return ""


def _powered(student: Tensor, right: Tensor) -> str:
    """A power, with the rows of the last axis made to sum to what they did before."""
    if not bool((student > 0).all() and (right > 0).all()) or right.shape[-1] < 3:
        return ""
    logs = [one.log() - one.log().mean(-1, keepdim=True) for one in (student, right)]
    power, _ = factor(*logs)
    if not power or not same(logs[0], power * logs[1]):
        return ""
    if same(student, right**power):
        return f"is {GIVEN} to the power {number(power)}"
    return f"is {GIVEN} to the power {number(power)}, times a factor for each row"


def _alike(a: Tensor, b: Tensor) -> bool:
    """To the few parts in 100,000 that a term such as eps makes."""
    return bool((a - b).abs().max() <= 1e-4 * b.abs().max())


def _monotone(student: Tensor, right: Tensor) -> str:
    if student.numel() < _ENOUGH or not _order(*few(student, right)):
        return ""
    return _order(student, right)


def _order(student: Tensor, right: Tensor) -> str:
    steps = student.flatten()[right.flatten().argsort()].diff()
    slack = 1e-12 * float(student.abs().max())
    if bool((steps >= -slack).all()):
        return f"rises with {GIVEN}: a function of each value alone"
    if bool((steps <= slack).all()):
        return f"falls as {GIVEN} rises: a function of each value alone"
    return ""
