"""What a block adds to its input: the rows of attention, from the projections on, and of the MLP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import torch
from torch import Tensor

from ..context import Predict
from ..forms import (
    ACTIVATIONS,
    CONTEXTS,
    MERGES,
    PROBABILITIES,
    SCORES,
    WHOLE_ATTENTION,
    Form,
)
from ..search.linear_maps import LinearMap
from ..search.places import Found
from ..steps import Made
from ..walk import Walk, applied, combine
from .operators import FormRow, LinearRow, Moved, never, width
from .projecting import ProjectionsRow
from .rows import Computation, Row, read
from .scores import ProbabilitiesRow, ScoresRow, scale


def _several(walk: Walk, form: Form) -> bool:
    """Over one head or one image alone, attention over heads or images gives the value itself."""
    B, heads, *_ = walk.context.stage("query", walk.number).shape
    return form not in _WHOLE or min(B, heads) > 1


_OWN_VALUE = "own-value-kept"
_SUMMED = 0.05  # the price of a sum of what each head gives
_MISSING = Form(lambda x: x, "activation-missing")
_RELU = ((Form(lambda x: x.relu()), "activation-after-out-proj"),)
_EXTRA = tuple((form, "extra-activation-after-fc2") for form in ACTIVATIONS)
_WHOLE = tuple(
    Form(lambda p, q, k, v, one=form: one.function(q, k, v), form.id, form.blame) for form in WHOLE_ATTENTION
)


@dataclass(frozen=True, kw_only=True)
class HeadsLinearRow(LinearRow):
    """A linear map of all heads side by side, or the sum of a map of each: Elhage et al. 2021."""

    def right(self, walk: Walk) -> Iterator[Computation]:
        yield from super().right(walk)
        x = self.given(walk)[0]
        maps = list(self._of_heads(walk, x))
        if len(maps) == walk.heads > 1:
            made = Made(_summed(maps, x.predict), _summed(maps, x.right), x.began)
            yield Computation(made, _SUMMED, may_be_implied=True)

    def _of_heads(self, walk: Walk, x: Made) -> Iterator[LinearMap]:
        """Of each head in turn, the first map whose result is in the trace."""
        for number in range(walk.heads):
            head = _head(x.predict, number, walk.heads)(walk.context)
            found = walk.parameters.linears(head, x.began - 1, width(walk))
            yield from (map_ for map_, _, _ in islice(found, 1))


def _summed(maps: Sequence[LinearMap], merged: Predict) -> Predict:
    heads = (_head(merged, number, len(maps)) for number in range(len(maps)))
    return combine(_sum_of, *(applied(map_, head) for map_, head in zip(maps, heads)))


def _head(merged: Predict, number: int, count: int) -> Predict:
    return lambda context: context.of(merged).chunk(count, -1)[number]


def _sum_of(*parts: Tensor) -> Tensor:
    return torch.stack(parts).sum(0)


SCALE_MOVED = Moved(
    "attention_scores",
    "attention_probabilities",
    "scale-missing",
    "scale-after-softmax",
    "scale-after-softmax",
)
ACTIVATION_MOVED = Moved(
    "mlp_hidden", "mlp_output", "activation-missing", "extra-activation-after-fc2", "activation-after-fc2"
)


def _after_what_is_seen(walk: Walk) -> bool:
    """Not all of attention may be unseen."""
    return any(step.found is not None for step in walk.steps[-2:])


@dataclass(frozen=True, kw_only=True)
class ContextRow(FormRow):
    """What is taken of the values, as the probabilities say."""

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        ways = super().wrong(walk)
        yield from (way for way in ways if not (walk.ends_early and _OWN_VALUE in way.ids))

    def _found(self, walk: Walk, way: Computation) -> Found | None:
        """The values are there in any case: those that are kept are made of the probabilities."""
        found = super()._found(walk, way)
        if found is None or _OWN_VALUE not in way.ids:
            return found
        read = next(one for one in reversed(walk.steps) if one.key == "attention_probabilities").found
        made_of = walk.trace.ancestors(walk.trace.records[found.record].reference)
        return found if read is not None and read.record in made_of else None


def _context(forms: tuple[Form, ...]) -> ContextRow:
    return ContextRow(
        key="attention_context",
        reads=("attention_probabilities", "query", "key", "value"),
        forms=forms,
        needs=_several,
        implied=_after_what_is_seen,
        commits=True,
    )


_PROBABILITIES = ProbabilitiesRow(
    key="attention_probabilities",
    reads=("attention_scores", "query"),
    forms=PROBABILITIES,
    unseen=True,  # zeros and ones alone are not to be found
    moved=(SCALE_MOVED,),
)


def attention(
    probabilities: tuple[Row, ...] = (_PROBABILITIES,), whole: tuple[Form, ...] = _WHOLE
) -> tuple[Row, ...]:
    """From what the projections read to S15.

    ``probabilities`` are the rows from the scores on; ``whole`` is attention over wrong axes.
    """
    return (
        ProjectionsRow(key="query", reads=("normed_input",)),
        ScoresRow(key="attention_scores", reads=("query", "key"), role="key_norm", forms=SCORES, named=scale),
        *probabilities,
        _context((*CONTEXTS, *whole)),
        FormRow(
            key="merged_heads",
            stage="attention_output",
            part="Before its projection",
            reads=("attention_context",),
            forms=MERGES,
        ),
        HeadsLinearRow(
            key="attention_output",
            reads=("merged_heads",),
            role="out",
            outputs=width,
            missing="output-projection-missing",
            activated=_RELU,
            added_to=("block_input",),
        ),
    )


@dataclass(frozen=True, kw_only=True)
class ActivationRow(FormRow):
    """An activation of what it reads, which may be a gate: Shazeer 2020, arXiv:2002.05202."""

    made_of: str  # what that is a linear map of

    def wrong(self, walk: Walk) -> Iterator[Computation]:
        yield from super().wrong(walk)
        inner = self.given(walk)[0]
        for gate, value in self._gates(walk, inner):
            right = combine(ACTIVATIONS[0].function, gate)
            for form in _GATES:
                predict = combine(partial(_gated, form), gate, value)
                yield Computation(Made(predict, right, inner.began), 1.0, ("gated-mlp",))

    def _gates(self, walk: Walk, inner: Made) -> Iterator[tuple[Predict, Predict]]:
        """A gate and what goes through it: two maps of the same tokens, or both halves of one."""
        tensor, x = inner.predict(walk.context), read(walk, self.made_of)
        maps = walk.parameters.linears(x.predict(walk.context), x.began - 1, tensor.shape[-1])
        others = [applied(map_, x.predict) for map_, _, _ in maps]
        pairs = [(inner.predict, one) for one in others]
        if tensor.shape[-1] % 2 == 0:
            pairs.append((_head(inner.predict, 0, 2), _head(inner.predict, 1, 2)))
        yield from (pair for one in pairs for pair in (one, one[::-1]))


def _gated(form: Form, gate: Tensor, value: Tensor) -> Tensor:
    return form.function(gate) * value


_GATES = (*ACTIVATIONS, Form(torch.sigmoid))
_MIXED = "mlp-mixes-tokens"
MLP: tuple[Row, ...] = (
    LinearRow(
        key="mlp_inner",
        stage="mlp_hidden",
        part="Before its activation",
        reads=("post_attention_norm",),
        role="fc1",
        along_tokens=_MIXED,
    ),
    ActivationRow(
        key="mlp_hidden",
        reads=("mlp_inner",),
        made_of="post_attention_norm",
        forms=(*ACTIVATIONS, _MISSING),
        implied=never,
        commits=True,
    ),
    LinearRow(
        key="mlp_output",
        reads=("mlp_hidden",),
        role="fc2",
        outputs=width,
        activated=_EXTRA,
        moved="activation-missing",
        added_to=("attention_sum", "post_attention_norm"),
        along_tokens=_MIXED,
    ),
)
