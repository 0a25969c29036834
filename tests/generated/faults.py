"""Which stages of a wrong program are wrong, and which only follow from those: known by measurement.

The wrong program runs with the right program's value in the place of each marked expression's own. What it
computes in such a place is then made of right values alone: where it differs, the fault lies there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .marking import spans
from .mutating import changed_tree
from .program import Program
from .proving import DOUBLE, KEPT_SINGLE, changed, instrumented, run
from .wrong import Wrong

Values = Mapping[str, Sequence[object]]  # of each stage, at each time that it is computed


def faults(wrong: Wrong) -> frozenset[str] | None:
    """The stages at which it goes wrong by itself; None where it does not come to its end."""
    program = wrong.program
    slips = tuple(one.candidate for one in wrong.slips)
    tree, marks = changed_tree(program.source, spans(program.text), slips)
    forced = _Forced(_values(program), KEPT_SINGLE if program.facts.rounds else DOUBLE)
    try:
        run(program, changed(tree, marks), tap=forced)
    except Exception:  # a student's code may raise anything
        return None
    return frozenset(forced.wrong)


def _values(program: Program) -> Values:
    values: defaultdict[str, list[object]] = defaultdict(list)
    for stage, value in run(program, instrumented(program.source, program.spans)).seen:
        values[stage].append(value)
    return values


class _Forced:
    """Stands for a marked expression: notes whether its value is right, and gives the right one."""

    def __init__(self, right: Values, tolerance: float) -> None:
        self.wrong: set[str] = set()
        self._right, self._tolerance = right, tolerance
        self._times: Counter[str] = Counter()

    def __call__(self, label: str, value: Any) -> Any:
        stages = label.split(",")
        if len(stages) == 1:
            return self._instead(label, value)
        return tuple(self._instead(stage, one) for stage, one in zip(stages, value))

    def _instead(self, stage: str, value: object) -> object:
        number = self._times[stage]
        self._times[stage] += 1
        if number >= len(self._right.get(stage, ())):  # once more than in the right program
            self.wrong.add(stage)
            return value
        right = self._right[stage][number]
        if not self._same(value, right):
            self.wrong.add(stage)
        return right.clone() if isinstance(right, Tensor) else right

    def _same(self, one: object, other: object) -> bool:
        if not isinstance(one, Tensor) or not isinstance(other, Tensor):
            return type(one) is type(other)
        if one.shape != other.shape:
            return False
        return torch.allclose(one.double(), other.double(), rtol=self._tolerance, atol=self._tolerance)
