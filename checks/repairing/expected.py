"""What a program gives once it is mended: its scores, and the first stage that is wrong now."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from itertools import product
from math import prod

from torch import Tensor

from ...submissions.host.trace import Trace
from ...submissions.questions.changes import ChangedPass
from ..examining.examination import Examination
from ..examining.passes.replay import Seen, reference_pass
from ..locating.comparing import IN_SINGLE, LIKELY, equal, far
from ..locating.context import Predict
from ..locating.steps import Step

_RETURNED = ("logits", "class_probabilities")
_OF_A_BLOCK = 4  # tensors of the size of the tokens: what attention and MLP give, and the two sums


class Expected:
    """Of one examination, for its first example; ``is_right`` says that no stage is wrong."""

    def __init__(self, examination: Examination, is_right: bool) -> None:
        self._examination, self._walk, self._is_right = examination, examination.walk, is_right

    def is_returned(self, found: ChangedPass) -> bool:
        """Are these the scores of a right program?"""
        return any(equal(*pair, LIKELY) for pair in product(found.tensors, self.scores))

    def is_nearer(self, found: ChangedPass) -> bool:
        """Is one of the wrong stages right in such a pass?

        The scores are those that follow from it, or the first is among the tensors, as far as sums tell.
        """
        return any(
            equal(*pair, LIKELY) for pair in product(found.tensors, self._scores_of_one_mended)
        ) or any(_close(*pair) for pair in product(found.sums, self._sums))

    @property
    def is_of_another_shape(self) -> bool:
        """Is what is returned now no row of scores for each image?"""
        return not self._are_scores(self.before)

    def _are_scores(self, returned: Iterable[Tensor]) -> bool:
        return any(tuple(one.shape) == self._examination.first_draw.sizes.output_shape for one in returned)

    def differs(self, found: ChangedPass) -> bool:
        """Does it return what may be scores, and anything else than before?"""
        return self._are_scores(found.tensors) and not _same(found.tensors, self.before)

    @property
    def numbers(self) -> int:
        """Of the first wrong stage, or else of the tokens where blocks are missing; 0 where neither is."""
        if self._sums and self._stage is not None:
            return self._stage.right.numel()
        return self._walk.context.stage("block_output", 1).numel() if self.blocks_lacking else 0

    @cached_property
    def blocks_lacking(self) -> int:
        """How many more blocks there should be, or fewer if negative, where that is known."""
        walk = self._walk
        is_known = walk.blocks > 0 and walk.unexplained is None and walk.trace.error is None
        return walk.sizes.depth - walk.blocks if is_known and not self._is_right else 0

    def has_other_blocks(self, found: ChangedPass, before: ChangedPass) -> bool:
        """Does it make as many more of these tensors, or fewer, as those blocks do at the least?"""
        more = (len(found.sums) - len(before.sums)) * (1 if self.blocks_lacking > 0 else -1)
        return bool(before.tensors and self.blocks_lacking) and more >= _OF_A_BLOCK * abs(self.blocks_lacking)

    @cached_property
    def before(self) -> list[Tensor]:
        """What is returned now."""
        return [*returned(self._examination.first.trace)]

    @cached_property
    def scores(self) -> list[Tensor]:
        """What right programs return with these weights, if not this; nothing where a stage is not known."""
        ways = 1 + max((len(one.variants) for one in self._walk.steps), default=0)
        return self._returned_by(partial(self._right, way) for way in range(ways))

    def _right(self, way: int, step: Step) -> Predict:
        """What is amiss computed rightly, or as a variant is."""
        if self._examination.is_amiss(step) or not step.findings:
            return (step.right, *step.variants)[min(way, len(step.variants))]
        return step.predict

    @cached_property
    def _scores_of_one_mended(self) -> list[Tensor]:
        """The same where one of several wrong stages is right, and what is wrong with the others is known."""
        wrong = [one for one in self._walk.steps if self._examination.is_amiss(one)]
        keys, unknown = {one.key for one in wrong}, {one.key for one in wrong if not one.explained}
        mended = [key for key in keys if unknown <= {key}] if len(keys) > 1 else []
        return self._returned_by(partial(_mended, key) for key in mended)

    def _returned_by(self, ways: Iterable[Callable[[Step], Predict]]) -> list[Tensor]:
        """The scores that are chained so, if they are other than now."""
        one = self._examination.first
        if self._is_right or one.trace.error is not None or self._walk.blocks != one.draw.sizes.depth:
            return []
        chains = (reference_pass(self._walk, one.trace, one.draw.sizes, equation) for equation in ways)
        every = (stages[key, 0] for stages in chains for key in _RETURNED if (key, 0) in stages)
        return [one for one in every if not any(_same([one], [other]) for other in self.before)]

    @cached_property
    def _stage(self) -> Seen | None:
        """The first that is wrong, as it is seen in the first example."""
        seen = self._examination.first.seen
        return next((one for one in seen if self._examination.is_amiss(one.step)), None)

    @cached_property
    def _sums(self) -> list[tuple[float, float]]:
        """Of that stage as it should be, or as a variant has it, unless the submission computes that."""
        if self._stage is None:
            return []
        numbers, trace = self._stage.right.numel(), self._examination.first.trace
        alike = (one for one in trace.records if prod(one.shape) == numbers and one.cells is not None)
        made = [_added(trace.tensor(one.reference)) for one in alike]
        right = [_added(one) for one in (self._stage.right, *self._variants(self._stage.step))]
        known = (one for one in right if math.isfinite(sum(one)))
        return [one for one in known if not any(_close(other, one) for other in made)]

    def _variants(self, step: Step) -> Iterator[Tensor]:
        context = self._examination.first.context
        for one in step.variants:
            with suppress(RuntimeError, ValueError, LookupError):
                yield one(context)


def _mended(key: str, step: Step) -> Predict:
    return step.right if step.key == key else step.predict


def _added(tensor: Tensor) -> tuple[float, float]:
    return float(tensor.double().sum()), float(tensor.double().square().sum())


def _close(one: tuple[float, float], right: tuple[float, float]) -> bool:
    """Are the numbers the same in some order, as far as their sum and that of their squares tell?"""
    of_sum, of_squares = (abs(a - b) for a, b in zip(one, right))
    return of_squares <= IN_SINGLE * right[1] and of_sum <= IN_SINGLE * (abs(right[0]) + math.sqrt(right[1]))


def returned(trace: Trace) -> Iterator[Tensor]:
    return (trace.tensor(reference) for _, reference in trace.outputs)


def _same(some: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Is what is returned the same, but for what the order of operations or a constant of float32 changes?"""
    pairs = list(zip(some, others))
    return bool(pairs) and not any(far(*pair, IN_SINGLE) for pair in pairs)
