"""What can be said of a tensor that no known equation gives: the simplest relation that fits, no diagnosis.

Each relation is tried on the student's tensor and the one that the equation gives. It is said only where it
holds for every number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import torch
from torch import Tensor

from .axes import members, names_of, plural
from .curves import curve
from .mixing import mixed_along, mixture, product
from .nearness import GIVEN, apart, factor, number, same
from .rearranging import rearranged, reordered
from .shapes import shaped


def measured(
    student: Tensor, right: Tensor, axes: str, earlier: Mapping[str, Tensor] | None = None, part: str = ""
) -> str:
    """One or two sentences on how the student's tensor and the right one relate.

    ``axes`` are letters as in the stage table; ``earlier`` are tensors that may have been mixed into it, by
    label; ``part`` is what the two are of the stage, such as "Before its norm", where they are not all of it.
    """
    begin = f"{part} it" if part else "It"
    if student.shape != right.shape:
        return f"{begin} has the shape {shaped(student.shape)}, but the equation gives {shaped(right.shape)}."
    if not bool(torch.isfinite(student).all()):
        count = int((~torch.isfinite(student)).sum())
        return f"{begin} has NaN or infinite values: {count} of {student.numel()}."
    if not bool(torch.isfinite(right).all()):
        return f"{begin} is finite, but the equation gives NaN or infinite values."
    finite = {label: one for label, one in (earlier or {}).items() if bool(torch.isfinite(one).all())}
    told = next(_relations(student, right, names_of(axes), finite), "")
    return f"{begin} {told or _nearest(student, right)}.{_sums(student, right, axes)}"


def _relations(
    student: Tensor, right: Tensor, names: list[str], earlier: Mapping[str, Tensor]
) -> Iterator[str]:
    """Every relation that fits, the simplest first."""
    tries: tuple[Callable[[], str], ...] = (
        lambda: _multiple(student, right),
        lambda: _shifted(student, right),
        lambda: _stretched(student, right),
        lambda: rearranged(student, right, names),
        lambda: _in_part(student, right, names, at_most=0.5),
        lambda: _zeros(student, right),
        lambda: _scaled_along(student, right, names),
        lambda: mixed_along(student, right, names),
        lambda: _added_along(student, right, names),
        lambda: curve(student, right),
        lambda: reordered(student, right),
        lambda: mixture(student, right, earlier),
        lambda: product(student, right, earlier),
        lambda: _in_part(student, right, names, at_most=0.8),
    )
    return filter(None, (one() for one in tries))


def _multiple(student: Tensor, right: Tensor) -> str:
    best, _ = factor(student, right)
    return f"is {number(best)} times {GIVEN}" if best and same(student, best * right) else ""


def _shifted(student: Tensor, right: Tensor) -> str:
    shift = float((student - right).mean())
    return f"is {GIVEN} plus {number(shift)} everywhere" if same(student, right + shift) else ""


def _stretched(student: Tensor, right: Tensor) -> str:
    slope, _ = factor(student - student.mean(), right - right.mean())
    shift = float(student.mean() - slope * right.mean())
    if not slope or not same(student, slope * right + shift):
        return f"is {number(shift)} everywhere" if same(student, student.mean().expand_as(student)) else ""
    return f"is {number(slope)} times {GIVEN}, plus {number(shift)}"


def _zeros(student: Tensor, right: Tensor) -> str:
    kept = student != 0
    dropped = int((~kept).sum())
    if not dropped or not bool(kept.any()):
        return ""
    best, _ = factor(student[kept], right[kept])
    if not same(student[kept], best * right[kept]) or same(student, torch.relu(right)):
        return ""
    rest = GIVEN if same(student[kept], right[kept]) else f"{number(best)} times {GIVEN}"
    return f"is 0 in {dropped} of its {student.numel()} values, and {rest} in the others"


def _scaled_along(student: Tensor, right: Tensor, names: list[str]) -> str:
    """A factor, or a factor and a shift, for each index of one axis."""
    for axis, name in enumerate(names):
        if student.shape[axis] < 2 or student.numel() // student.shape[axis] < 4:
            continue
        x, y = (one.movedim(axis, 0).flatten(1) for one in (student, right))
        factors = (x * y).sum(1, keepdim=True) / y.square().sum(1, keepdim=True)
        if same(x, factors * y):
            return f"is {GIVEN} times a factor for each {name} ({_range(factors)})"
    return ""


def _added_along(student: Tensor, right: Tensor, names: list[str]) -> str:
    """What is added is the same along one axis or more."""
    added = student - right
    equal = [
        axis
        for axis, size in enumerate(added.shape)
        if size > 1 and same(added + right, added.mean(axis, keepdim=True) + right)
    ]
    if not equal:
        return ""
    along = " and ".join(f"for all {plural(names[axis])}" for axis in equal)
    return f"is {GIVEN} plus something that is the same {along} ({_range(added)})"


def _in_part(student: Tensor, right: Tensor, names: list[str], at_most: float) -> str:
    """Where only some indices of an axis differ: which, and how the tensors relate there."""
    scale = float(right.abs().max())
    for axis, name in enumerate(names):
        x, y = student.movedim(axis, 0), right.movedim(axis, 0)
        wrong = apart(x, y, scale).nonzero().flatten().tolist()
        if 0 < len(wrong) < len(x) and len(wrong) <= at_most * len(x):
            inner = x[wrong].movedim(0, axis), y[wrong].movedim(0, axis)
            told = next(_relations(*inner, names, {}), "")
            where = members(name, wrong)
            if told or len(x) > 2:
                return f"differs from {GIVEN} in {where} only" + (f", where it {told}" if told else "")
    return ""


def _nearest(student: Tensor, right: Tensor) -> str:
    best, rest = factor(student, right)
    if rest > 0.9:
        return f"has nothing in common with {GIVEN} (as directions, they are unrelated)"
    return (
        f"has no simple relation to {GIVEN}: after the best multiple,"
        f" {number(best)} times, {rest:.0%} is left"
    )


def _sums(student: Tensor, right: Tensor, axes: str) -> str:
    """Along which axis a tensor over all pairs of tokens sums to 1; that none does, where it should."""
    if not axes.endswith("T T"):
        return ""
    numbers = reversed(list(enumerate(names_of(axes))))
    ones = [plural(name) for axis, name in numbers if _sums_to_1(student, axis)]
    none = " It does not sum to 1 along any axis." if _sums_to_1(right, -1) else ""
    return f" It sums to 1 over {ones[0]}." if ones else none


def _sums_to_1(values: Tensor, axis: int) -> bool:
    """As rows of probabilities do, in float64."""
    return bool(((values.sum(axis) - 1).abs() < 1e-6).all())


def _range(values: Tensor) -> str:
    return f"{number(float(values.min()))} to {number(float(values.max()))}"
