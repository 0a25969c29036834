"""One pass of the student's own code with right numbers in place of some stages.

Interpretability work calls it activation patching, as in https://arxiv.org/abs/2202.05262.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import torch
from torch import Tensor

from ...submissions.host.session import Session
from ...submissions.host.trace import Trace
from ...submissions.questions.recording import Cure
from ..examining.passes.example import Example
from ..examining.passes.replay import Seen, reference_pass
from ..locating.comparing import ROUNDING, SINGLE, equal
from ..locating.context import Context
from ..locating.search.places import Found, Place, places_in

_Key = tuple[str, int]  # of a stage, and the block


class NoPlace(Exception):
    """No stage has a tensor of its own that right numbers could be put into, or other operations run then."""


@dataclass(frozen=True)
class CuredPasses:
    """Passes over one example, of which the reference's numbers are known."""

    session: Session
    example: Example
    blamed: Set[str]  # keys of stages

    def first_wrong(self, cured: Set[str]) -> Seen | None:
        """The first stage that is wrong all the same where those with the keys ``cured`` are right.

        One without a tensor of its own is made right in what is computed from it.
        Raises NoPlace where that has none, either.
        """
        skipped: set[_Key] = set()
        targets: dict[_Key, Seen] = {}
        made = self._with_made_right(cured)
        todo = [one for one in self._seen if one.step.key in cured or self._differs_in(made, one)]
        while todo:
            one = todo.pop()
            is_known, is_own = _key(one) in skipped, self._is_own(one)
            skipped.add(_key(one))
            targets |= {_key(one): one} if is_own else {}
            todo += [] if is_known or is_own else self._readers(one)
        if not targets:
            raise NoPlace
        trace = self._trace([cure for one in targets.values() for cure in self._cures(one)])
        left = (one for one in self._seen if _key(one) not in skipped)
        return next((one for one in left if not self._is_right(one, trace)), None)

    def _with_made_right(self, cured: Set[str]) -> Context | None:
        """Where what lies between stages, and is told at those, is right; None where nothing does."""
        between = self.example.walk.between.items()
        made = {one.predict: one.right for (key, _), some in between if key in cured for one in some}
        context = self.example.context.forked()
        context.read_instead(made)
        return context if made else None

    def _differs_in(self, context: Context | None, one: Seen) -> bool:
        return context is not None and not equal(context.of(one.step.predict), one.student)

    def _trace(self, cures: list[Cure]) -> Trace:
        draw = self.example.draw
        trace = self.session.trace(draw.sizes, draw.seed, draw.image, cures=cures)
        if trace.signature != self.example.trace.signature:
            raise NoPlace
        return trace

    @cached_property
    def _right(self) -> Mapping[_Key, Tensor]:
        """What each stage is where all are right, in the student's own form where that is accepted."""
        one = self.example
        return reference_pass(
            one.walk,
            one.trace,
            one.draw.sizes,
            lambda step: step.predict if step.findings and step.key not in self.blamed else step.right,
        )

    @cached_property
    def _seen(self) -> list[Seen]:
        """The stages of which the right value is known, as far as the chain of these comes."""
        return [one for one in self.example.seen if _key(one) in self._right]

    def _is_right(self, one: Seen, trace: Trace) -> bool:
        """Is it right where it was, or elsewhere in those records? One without a place is implied."""
        found, right = self._found.get(_key(one)), self._right[_key(one)]
        if found is None:
            return True
        tolerance = SINGLE if self.example.walk.single else ROUNDING
        there = (
            equal(trace.tensor(place.window(each.shape)), each, tolerance)
            for place, each in _pieces(found, right)
        )
        return all(there) or places_in(trace, found.records).hold(right, found.axes)  # equal rows: no place

    @cached_property
    def _found(self) -> dict[_Key, Found]:
        """Where each stage lies at the sizes of this pass."""
        found = ((_key(one), self._place(one)) for one in self._seen)
        return {key: one for key, one in found if one is not None}

    def _place(self, one: Seen) -> Found | None:
        example, found = self.example, one.step.found
        if found is None or example.trace is example.walk.trace:
            return found
        return places_in(example.trace, found.records).find(one.student)

    def _is_own(self, one: Seen) -> bool:
        """Would right numbers in its place leave every stage that shares that with it right?"""
        found, right = self._found.get(_key(one)), self._right[_key(one)]
        if (
            found is None
            or right.shape != one.student.shape
            or any(0 in each.strides for each in found.places)
        ):
            return False
        others = (each for each in self._seen if _key(each) in self._found and _key(each) != _key(one))
        return all(self._leaves_right(found, right, each) for each in others)

    def _leaves_right(self, found: Found, right: Tensor, other: Seen) -> bool:
        """Is ``other`` right where numbers for this one are written over its own?"""
        theirs = _pieces(self._found[_key(other)], self._right[_key(other)])
        pairs = product(_pieces(found, right), theirs)
        return all(
            self._agree(*one, *another) for one, another in pairs if one[0].record == another[0].record
        )

    def _agree(self, place: Place, value: Tensor, other: Place, other_value: Tensor) -> bool:
        cells = torch.full_like(self.example.trace.records[place.record].cells, torch.nan)
        cells.as_strided(value.shape, place.strides, place.offset).copy_(value)
        written = cells.as_strided(other_value.shape, other.strides, other.offset)
        return equal(other_value.where(written.isnan(), written), other_value)

    def _readers(self, one: Seen) -> list[Seen]:
        """The stages of which the right value changes with this one."""
        context = self.example.context.forked()
        context.settle(*_key(one), self._right[_key(one)])
        later = self._seen[self._seen.index(one) + 1 :]
        return [each for each in later if not equal(context.of(each.step.right), each.right)]

    def _cures(self, one: Seen) -> Iterator[Cure]:
        for place, value in _pieces(self._found[_key(one)], self._right[_key(one)]):
            yield Cure(place.record, place.offset, place.strides, value.double().contiguous())


def _key(one: Seen) -> _Key:
    return one.step.key, one.step.block


def _pieces(found: Found, value: Tensor) -> Iterator[tuple[Place, Tensor]]:
    """Each place, and what of ``value`` lies there."""
    apart = value.movedim(found.axes, tuple(range(len(found.axes))))
    for place, piece in zip(found.places, apart.reshape(-1, *apart.shape[len(found.axes) :])):
        yield place, piece if found.axes else value
