"""Is a tensor a sum of multiples of others, or of its own entries along one axis?"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement

import torch
from torch import Tensor

from .axes import plural
from .nearness import number, same

_PARTS = 3  # in a sum; more fit by their number
_SMALL = 1e-7  # relative, of a coefficient that is none


def mixture(student: Tensor, right: Tensor, earlier: Mapping[str, Tensor]) -> str:
    """A sum of multiples of earlier stages, and a constant."""
    columns = {name: one for name, one in earlier.items() if one.shape == student.shape}
    columns = {name: one for name, one in columns.items() if not _again(name, columns)}
    found = _fit(student, columns)
    if found is None:
        return ""
    told = " + ".join(f"{_times(value)}{name}" for name, value in found.items())
    return f"is {told}".replace("+ -", "- ")


def _times(value: float) -> str:
    return "" if same(torch.tensor(value), torch.tensor(1.0)) else f"{number(value)} × "


def _again(name: str, columns: Mapping[str, Tensor]) -> bool:
    """Is this tensor listed before, by another name?"""
    before = list(columns)[: list(columns).index(name)]
    return any(same(columns[name], columns[other]) for other in before)


def _fit(student: Tensor, columns: Mapping[str, Tensor]) -> dict[str, float] | None:
    """The coefficients of an exact sum of few parts, without those that are nothing."""
    if not columns or student.numel() < 4 * len(columns):
        return None
    matrix = torch.stack([one.flatten() for one in (*columns.values(), torch.ones_like(student))], 1)
    scales = matrix.norm(dim=0)
    solution = torch.linalg.lstsq(matrix / scales, student.flatten()[:, None]).solution.flatten() / scales
    if not bool(torch.isfinite(solution).all()) or not same((matrix @ solution).view_as(student), student):
        return None
    sizes = solution.abs() * scales
    names = [*columns, "1"]
    kept = {
        name: float(value)
        for name, value, size in zip(names, solution, sizes)
        if size > _SMALL * float(sizes.max())
    }
    return kept if 1 <= len(kept) <= _PARTS else None


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
        if not 1 < len(y) <= y.shape[1] // 2 or int(torch.linalg.matrix_rank(y)) < len(y):
            continue
        weights = torch.linalg.lstsq(y.mT, x.mT).solution.mT
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
