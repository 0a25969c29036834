"""Twenty typical submissions, made of the reference, to see what a course would give for them.

Imports no torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ....submissions.reading.packing import HandIn
from .planting import plantable, reference_as_submission

TO_WRITE = "exec('raise NotImplementedError')"
_ALL_TO_WRITE = ("cut_patches", "linear", "expand_class_token", "prepend_class_token", "add_positions")
_CRASH = "scores.reshape(7, 7)"


@dataclass(frozen=True)
class _Typical:
    title: str
    mistakes: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)  # what functions of the equations return


_TYPICAL = (
    _Typical("right"),
    _Typical("eps outside of the root in the norms", ("layernorm-eps-outside-sqrt",)),
    _Typical("a layer that nothing uses", ("unused-parameter",)),
    _Typical("softmax over the queries", ("softmax-over-queries",)),
    _Typical("scores divided by the square root of the full width", ("scale-by-embed-dim",)),
    _Typical("heads merged without a transpose", ("heads-merged-without-transpose",)),
    _Typical("no positions", ("pos-missing",)),
    _Typical("no residual around the MLP", ("residual-mlp-missing",)),
    _Typical("no scale, no positions", ("scale-missing", "pos-missing")),
    _Typical("class token last, softmax over the heads", ("cls-appended-last", "softmax-over-heads")),
    _Typical(
        "keys from the queries, no activation, softmax in the logits",
        ("query-equals-key", "activation-missing", "softmax-in-logits"),
    ),
    _Typical(
        "patches, positions, softmax, a residual and the activation wrong",
        (
            *("unfold-view-no-permute", "pos-added-twice", "softmax-missing"),
            *("residual-attn-missing", "activation-missing"),
        ),
    ),
    _Typical("a causal mask: the class token sees itself alone", ("causal-mask-added",)),
    _Typical("blocks in a Python list: none of them learns", ("blocks-in-python-list",)),
    _Typical("an image gets the scores of another", ("readout-batch-index",)),
    _Typical("crash in the softmax (S13)", instead={"attention_probabilities": _CRASH}),
    _Typical("written up to S07", instead={"split_heads": TO_WRITE}),
    _Typical("written up to S07, with no positions", ("pos-missing",), {"split_heads": TO_WRITE}),
    _Typical("attention and MLP written, no patches yet", instead={"cut_patches": TO_WRITE}),
    _Typical("nothing written", instead=dict.fromkeys(_ALL_TO_WRITE, TO_WRITE)),
)


def typical_submissions(architecture: str) -> Mapping[str, HandIn]:
    """Return them by what is wrong in them, as far as that can be made in this architecture."""
    known = plantable(architecture)
    return {
        one.title: reference_as_submission(architecture, *one.mistakes, instead=one.instead)
        for one in _TYPICAL
        if known.keys() >= set(one.mistakes)
    }
