"""Blocks of which a branch is left out or not followed: what stands behind it is judged all the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice

from ..best_first import UNKNOWN, Option, later
from ..context import Predict
from ..steps import Made
from ..walk import Walk, combine
from .blocks import BlockKind
from .graph_tensors import sequences
from .operators import SameRow
from .rows import Computation, Row, is_there, read

_LEFT_OUT = 1.2  # the price of a branch that is not there
_UNFOLLOWED = UNKNOWN + 0.9  # more than one unknown tensor in it, in each block
_NEXT = 0.001  # for each tensor that comes before
_MOST = 100  # tensors that a branch may give
NOT_FOLLOWED = "Your code computes it in a way that vitcheck cannot follow."


@dataclass(frozen=True, kw_only=True)
class LeftOutRow(Row):
    """A branch that is not there, which ``id`` says of its first stage."""

    id: str

    def node(self, walk: Walk) -> Iterator[Option]:
        yield Option(_LEFT_OUT, self._leave_out, sign=f"{self.key}: {self.id}")

    def _leave_out(self, walk: Walk) -> bool:
        walk.note(self.id, self.stage)
        return True


@dataclass(frozen=True, kw_only=True)
class PassedOnRow(LeftOutRow):
    """A branch that gives back what it reads."""

    def _leave_out(self, walk: Walk) -> bool:
        walk.make(self.key, self.given(walk)[0])
        return super()._leave_out(walk)


@dataclass(frozen=True, kw_only=True)
class WithoutMlpRow(Row):
    """What a block without an MLP hands on: the sum after attention, its norm, or both."""

    def node(self, walk: Walk) -> Iterator[Option]:
        for way in self._handed_on(walk):
            yield from self._options(walk, way)

    def _handed_on(self, walk: Walk) -> Iterator[Computation]:
        parts = [read(walk, one) for one in self.reads if is_there(walk, one)]
        yield from (Computation(replace(one, right=one.predict)) for one in parts)
        if len(parts) > 1:
            both: Predict = combine(lambda x, y: x + y, *(one.predict for one in parts))
            yield Computation(Made(both, both, max(one.began for one in parts)))


@dataclass(frozen=True, kw_only=True)
class UnfollowedRow(Row):
    """What a branch gives that is computed in no known way: some later tensor, which the next row tells."""

    def node(self, walk: Walk) -> Iterator[Option]:
        if not walk.ends_early:
            yield later(_UNFOLLOWED, self._any, f"{self.key}: not followed")

    def _any(self, walk: Walk) -> Iterator[Option]:
        _, tokens, width = walk.context.stage("positioned_tokens").shape
        later_ones = sequences(walk, width, tokens, len(walk.trace.records))
        for number, (_, predict) in enumerate(islice(later_ones, _MOST)):
            yield Option(_NEXT * number, partial(self._settle_any, predict=predict))

    def _settle_any(self, walk: Walk, predict: Predict) -> bool:
        found = walk.find(predict(walk.context))
        walk.settle(self.key, walk.number, predict, found, explained=False, message=NOT_FOLLOWED)
        return True


_ATTENTION, _MLP = ("query", "attention_output"), ("mlp_inner", "mlp_output")
_NO_MLP = (
    LeftOutRow(key="mlp_inner", stage="mlp_hidden", reads=(), id="mlp-left-out"),
    WithoutMlpRow(key="mlp_sum", stage="post_mlp_norm", reads=("attention_sum", "post_attention_norm")),
)

_NO_ATTENTION = (
    LeftOutRow(key="query", stage="query", reads=(), id="attention-left-out"),
    SameRow(key="attention_sum", stage="post_attention_norm", reads=("block_input",)),
)


_ATTENTION_PASSED_ON = PassedOnRow(
    key="attention_output", stage="query", reads=("normed_input",), id="attention-left-out"
)
_MLP_PASSED_ON = PassedOnRow(
    key="mlp_output", stage="mlp_hidden", reads=("post_attention_norm",), id="mlp-left-out"
)


@cache
def incomplete(kind: BlockKind) -> tuple[BlockKind, ...]:
    """The same kind of block without one of its branches, and with one not followed or doing nothing."""
    found = [
        _with(kind, *_ATTENTION, UnfollowedRow(key="attention_output", reads=())),
        _with(kind, *_MLP, UnfollowedRow(key="mlp_output", reads=())),
        _with(kind, "normed_input", "attention_sum", *_NO_ATTENTION),
        _with(kind, "mlp_inner", "mlp_sum", *_NO_MLP),
        _with(kind, "post_attention_norm", "mlp_sum", *_NO_MLP),
        _with(kind, *_ATTENTION, _ATTENTION_PASSED_ON),
        _with(kind, *_MLP, _MLP_PASSED_ON),
    ]
    return tuple(one for one in found if one is not None)


def _with(kind: BlockKind, first: str, last: str, *instead: Row) -> BlockKind | None:
    """With other rows in the place of those from ``first`` to ``last``; None where it has none such."""
    keys = [row.key for row in kind.rows]
    if first not in keys or last not in keys[keys.index(first) :]:
        return None
    start, stop = keys.index(first), keys.index(last) + 1
    rows = (*kind.rows[:start], *instead, *kind.rows[stop:])
    return replace(kind, rows=rows, without=f"{first} to {last}: {type(instead[0]).__name__}")
