"""Is a tensor another one with its axes or its entries in another order?"""

from __future__ import annotations

from itertools import combinations

from torch import Tensor

from .axes import plural
from .nearness import GIVEN, same


def rearranged(student: Tensor, right: Tensor, names: list[str]) -> str:
    """Two axes exchanged, or one axis in another order."""
    for first, second in combinations(range(right.dim()), 2):
        if right.shape[first] == right.shape[second] > 1 and same(student, right.transpose(first, second)):
            return f"is {GIVEN} with {plural(names[first])} and {plural(names[second])} swapped"
    for axis, name in enumerate(names):
        order = _order(student.movedim(axis, 0), right.movedim(axis, 0))
        if order is not None:
            return f"is {GIVEN} with its {plural(name)} {_told(order, name)}"
    return ""


def _order(student: Tensor, right: Tensor) -> list[int] | None:
    """Which index of ``right`` each index of ``student`` holds; None where one holds none."""
    scale = float(right.abs().max())
    order: list[int] = []
    for row in student:
        distances = (right - row).flatten(1).abs().amax(1)
        nearest = int(distances.argmin())
        if not same(row, right[nearest], scale):
            return None
        order.append(nearest)
    return order if order != list(range(len(right))) else None


def _told(order: list[int], name: str) -> str:
    count = len(order)
    if order == list(reversed(range(count))) and count > 2:
        return "in reverse order"
    steps = {(at - one) % count for at, one in enumerate(order)}
    if len(steps) == 1:
        step = steps.pop()
        return f"moved by {step if step <= count // 2 else step - count}"
    held = ", ".join(f"{name} {one} at {at}" for at, one in enumerate(order) if one != at)
    if len(set(order)) < count:
        return f"partly repeated ({_cut(held)})"
    return f"in another order ({_cut(held)})"


def _cut(text: str) -> str:
    parts = text.split(", ")
    return ", ".join(parts[:4]) + (", …" if len(parts) > 4 else "")


def reordered(student: Tensor, right: Tensor) -> str:
    """The same numbers in any order."""
    scale = float(right.abs().max())
    if not same(student.abs().mean(), right.abs().mean(), scale):  # sorting takes longer
        return ""
    if not same(student.flatten().sort()[0], right.flatten().sort()[0], scale):
        return ""
    return "has the values that the equation gives, in another order"
