"""Is a tensor a sum of multiples of others, or of its own entries along one axis?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, combinations_with_replacement

import torch
from torch import Tensor

from .axes import plural
from .nearness import GIVEN, few, number, same

_PARTS = 3  # in a sum; more fit by their number
_SMALL = 1e-7  # relative, of a coefficient that is none


def mixture(student: Tensor, right: Tensor, earlier: Mapping[str, Tensor]) -> str:
    """A sum of multiples of earlier stages, of as few as will do."""
    columns = {name: one for name, one in earlier.items() if one.shape == student.shape}
    columns[GIVEN] = right
    columns = {name: one for name, one in columns.items() if not _again(name, columns)}
    some, *others = few(student, *columns.values())
    given = dict(zip(columns, others))
    for count in range(1, _PARTS + 1):
        for names in combinations(columns, count):
            if _fit(some, [given[name] for name in names]) is None:
                continue
            values = _fit(student, [columns[name] for name in names])
            if values is not None:
                parts = sorted(zip(names, values), key=lambda one: one[0] == GIVEN, reverse=True)
                told = " + ".join(f"{_times(value)}{name}" for name, value in parts)
                return f"is {told}".replace("+ -", "- ")
    return ""


def _times(value: float) -> str:
    if abs(abs(value) - 1) < _SMALL:
        return "" if value > 0 else "-"
    return f"{number(value)} × "


def _again(name: str, columns: Mapping[str, Tensor]) -> bool:
    """Is this tensor listed before, by another name?"""
    before = list(columns)[: list(columns).index(name)]
    return any(same(columns[name], columns[other]) for other in before)


def _fit(student: Tensor, columns: Sequence[Tensor]) -> list[float] | None:
    """The coefficients of an exact sum."""
    if student.numel() < 4 * len(columns):
        return None
    matrix = torch.stack([one.flatten() for one in columns], 1)
    solution = torch.linalg.lstsq(matrix, student.flatten()[:, None]).solution.flatten()
    fits = bool(torch.isfinite(solution).all()) and same((matrix @ solution).view_as(student), student)
    return [float(one) for one in solution] if fits else None


def product(student: Tensor, right: Tensor, earlier: Mapping[str, Tensor]) -> str:
    """The product of two stages, number by number."""
    columns = {name: one for name, one in earlier.items() if one.shape == student.shape}
    for first, second in combinations_with_replacement(columns, 2):
        if same(student, columns[first] * columns[second]):
            return f"is {first} × {second}, number by number"
    return ""


def mixed_along(student: Tensor, right: Tensor, names: list[str]) -> str:
    """Each entry along one axis as a sum of multiples of all entries along it, the same everywhere."""
    for axis, name in enumerate(names):
        x, y = (one.movedim(axis, 0).flatten(1) for one in (student, right))
        if not 1 < len(y) <= y.shape[1] // 2:
            continue
        step = y.shape[1] // (2 * len(y))  # of twice as many numbers as are unknown
        some, given = x[:, ::step], y[:, ::step]
        if int(torch.linalg.matrix_rank(given)) < len(y):
            continue
        weights = torch.linalg.lstsq(given.mT, some.mT).solution.mT
        if same(weights @ y, x):
            row = int((weights - torch.eye(len(y), dtype=y.dtype)).abs().sum(1).argmax())
            return f"mixes {plural(name)}: {name} {row} is {_sum_of(weights[row], name)}"
    return ""


def _sum_of(weights: Tensor, name: str) -> str:
    largest = weights.abs().argsort(descending=True)[:_PARTS].tolist()
    parts = [at for at in sorted(largest) if float(weights[at].abs()) > _SMALL]
    told = " + ".join(f"{number(float(weights[at]))} × {name} {at}" for at in parts).replace("+ -", "- ")
    more = int((weights.abs() > _SMALL).sum()) > len(parts)
    return told + (" + …" if more else "")
