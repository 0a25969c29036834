"""Where stages could not be followed although the scores are right: all are known by the scores.

The reference that carries the student's parameters gives the student's scores, under random weights and to
rounding: then the model is right, however it computes them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import torch
from torch import Tensor

from ...reference.components import COMPONENTS
from ...reference.model_sizes import ModelSizes
from ...reference.sizes import Sizes
from ...reference.stages import stages_of
from ...reference.vit import CLIP, PRE_NORM, REPORT, ReferenceViT, Variant
from ...submissions.host.trace import Trace
from ..locating.context import Context, Predict
from ..locating.forms import ACTIVATIONS, Form
from ..locating.search.binding import Binding, bindings, numbers_of, state_of
from ..locating.search.returned_scores import outputs_of, stand_ins
from ..locating.walk import Walk, begin

_EPS = (1e-5, 1e-6, 1e-12)
_GELUS = [one for one in ACTIVATIONS if one.id in (None, "gelu-tanh", "quick-gelu")]
_MESSAGE = "It was not found in the pass, but the logits equal those of the reference with the same weights."
_BETWEEN_BLOCKS = {"positioned_tokens", "block_output", "last_block_output"}
_OF_BLOCK_1 = frozenset(COMPONENTS["block"].stages)

_Reorder = Callable[[Tensor, ModelSizes], Tensor]


def _as_is(tensor: Tensor, sizes: ModelSizes) -> Tensor:
    return tensor


def _head_by_head(qkv: Tensor, sizes: ModelSizes) -> Tensor:
    """From query, key and value of each head in turn."""
    return qkv.reshape(sizes.heads, 3, sizes.head_dim, *qkv.shape[1:]).transpose(0, 1).reshape(qkv.shape)


def _channel_last(weight: Tensor, sizes: ModelSizes) -> Tensor:
    """From patches that are flattened with their channels last."""
    P, C = sizes.patch, sizes.channels
    return weight.reshape(-1, P, P, C).permute(0, 3, 1, 2).reshape(weight.shape)


@dataclass
class Whole:
    """The reference with the student's parameters, on any trace."""

    variant: Variant
    gelu: Form
    binding: Binding
    packed: _Reorder
    flattened: _Reorder
    _known: tuple[Trace, Mapping[str, Tensor]] | None = field(default=None, repr=False)

    def stages(self, context: Context) -> Mapping[str, Tensor]:
        """Every stage by key; of the blocks those of the first."""
        if self._known is None or self._known[0] is not context.trace:
            self._known = context.trace, self._run(context)
        return self._known[1]

    def _run(self, context: Context) -> Mapping[str, Tensor]:
        sizes = context.sizes
        assert isinstance(sizes, Sizes)  # of a ViT, whose reference this is
        numbers = numbers_of(context.trace)
        state = state_of(self.binding, numbers, sizes, lambda one: self.packed(one, sizes))
        state["patch_embed.weight"] = self.flattened(state["patch_embed.weight"], sizes)
        model = ReferenceViT(sizes, self.variant).double().requires_grad_(False)
        for name, parameter in model.named_parameters():
            parameter.copy_(state.get(name, torch.zeros(())))  # what the student left out is no bias
        found: Mapping[str, Tensor] = model(context.image)
        return found


def known_by_the_scores(walk: Walk) -> Walk | None:
    """A walk on which every stage is right; None where the scores are not the reference's."""
    returned = stand_ins(outputs_of(walk.trace), walk.sizes.output_shape)
    named = [one for one in outputs_of(walk.trace) if one.is_called_probabilities]
    for whole in _candidates(walk):
        stages = _stages_or_none(whole, walk)
        if stages is None:
            continue
        rights = [stages[key] for key in ("logits", "class_probabilities") if key in stages]
        # a chain of forty equations stays within 1e-12
        if any(one.is_one_of(rights) for one in returned) and all(one.is_one_of(rights[1:]) for one in named):
            found = _settled(walk, whole, stages)
            seen = {step.key for step in found.steps if step.found}
            return found if seen >= _BETWEEN_BLOCKS else None
    return None


def _candidates(walk: Walk) -> Iterator[Whole]:
    for binding in bindings(numbers_of(walk.trace), walk.sizes):
        packings = (_as_is, _head_by_head) if len(binding.blocks[0][1]) == 4 else (_as_is,)
        for variant, flattened in product(_variants(binding), (_as_is, _channel_last)):
            tokens = _stages_or_none(Whole(variant, _GELUS[0], binding, _as_is, flattened), walk)
            if tokens is None or walk.places.find(tokens["positioned_tokens"]) is None:
                continue  # whatever follows in the blocks
            for eps, gelu, packed in product(_EPS, _GELUS, packings):
                asked = replace(variant, eps=eps, activation=gelu.function)
                yield Whole(asked, gelu, binding, packed, flattened)


def _stages_or_none(whole: Whole, walk: Walk) -> Mapping[str, Tensor] | None:
    """None where sizes do not go together: the parameters are not bound so."""
    try:
        return whole.stages(walk.context)
    except (RuntimeError, KeyError, ValueError):
        return None


def _variants(binding: Binding) -> tuple[Variant, ...]:
    """By the number of norms."""
    if len(binding.blocks[0][0]) == 3:
        return (REPORT,)
    return {1: (PRE_NORM,), 2: (CLIP,)}.get(len(binding.norms_outside), ())


def _settled(walk: Walk, whole: Whole, stages: Mapping[str, Tensor]) -> Walk:
    found = begin(walk.trace, walk.sizes, walk.family)
    found.architecture, found.blocks, found.heads = whole.variant.name, walk.sizes.depth, walk.sizes.heads
    found.bound = whole.binding
    for row in stages_of(whole.variant.name)[1:]:
        if row.key in stages:
            place = found.places.find(stages[row.key])
            predict = _read(whole, row.key)
            block = int(row.key in _OF_BLOCK_1)
            ids = [whole.gelu.id] if row.key == "mlp_hidden" and whole.gelu.id else []
            found.settle(row.key, block, predict, place, ids=ids, message="" if place else _MESSAGE)
    return found


def _read(whole: Whole, key: str) -> Predict:
    return lambda context: whole.stages(context)[key]
