"""Which stages of a wrong program are wrong, and which only follow from those: known by measurement.

The wrong program runs with the right program's value in the place of each marked expression's own. What it
computes in such a place is then made of right values alone: where it differs, the fault lies there. Where the
scores differ in spite of that, one lies behind the last such place.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from .marking import spans
from .mutating import changed_tree
from .proving import DOUBLE, KEPT_SINGLE, Run, changed, instrumented, run, scores
from .wrong import Wrong

Values = Mapping[str, Sequence[object]]  # of each stage, at each time that it is computed


def faults(wrong: Wrong) -> frozenset[str] | None:
    """The stages at which it goes wrong by itself; None where it does not come to its end."""
    program = wrong.program
    right = run(program, instrumented(program.source, program.spans))
    slips = tuple(one.candidate for one in wrong.slips)
    tree, marks = changed_tree(program.source, spans(program.text), slips)
    forced = _Forced(_values(right), KEPT_SINGLE if program.facts.rounds else DOUBLE)
    try:
        done = run(program, changed(tree, marks), tap=forced)
        same = forced.same(scores(done.output, program.facts), scores(right.output, program.facts))
    except Exception:  # a student's code may raise anything
        return None
    return frozenset(forced.wrong if same else {*forced.wrong, "S25"})  # behind what is marked


def _values(right: Run) -> Values:
    values: defaultdict[str, list[object]] = defaultdict(list)
    for stage, value in right.seen:
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
        if not self.same(value, right):
            self.wrong.add(stage)
        return right.clone() if isinstance(right, Tensor) else right

    def same(self, one: object, other: object) -> bool:
        if not isinstance(one, Tensor) or not isinstance(other, Tensor):
            return type(one) is type(other)
        if one.shape != other.shape:
            return False
        return torch.allclose(one.double(), other.double(), rtol=self._tolerance, atol=self._tolerance)
