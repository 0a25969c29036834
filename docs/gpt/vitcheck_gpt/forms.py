"""The block of a GPT: what the mask makes of scores, and the probabilities that follow, right and wrong."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from vitcheck.api import SCALE_MOVED, Form, FormRow, Moved, attention, attention_probabilities, pre_norm

_FILLS = (-1.0, -2.0, -5.0, -10.0, -20.0)  # from about -25 on, float64 does not tell them from infinity
_LARGE = -1e9

Mask = Callable[[Tensor], Tensor]


def _hide(above: int, fill: float) -> Mask:
    """Put ``fill`` where the column is at least ``above`` places after the row."""

    def mask(scores: Tensor) -> Tensor:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(above)
        return scores.masked_fill(hidden, fill)

    return mask


def _hide_past(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).tril(-1), -math.inf)


def _as_is(scores: Tensor) -> Tensor:
    return scores


causal = _hide(1, -math.inf)


_MASKS = (  # given the scores; the right one first
    Form(causal),
    Form(_as_is, "mask-missing"),
    Form(_hide(2, -math.inf), "mask-off-by-one"),
    Form(_hide(0, _LARGE), "mask-off-by-one"),
    Form(_hide_past, "mask-upside-down"),
    Form(_hide(1, 0.0), "mask-filled-with-zero"),
    *(Form(_hide(1, fill), "mask-filled-with-small-number") for fill in _FILLS),
)
_AFTER = Moved(
    "masked_scores", "attention_probabilities", "mask-missing", "mask-after-softmax", "mask-after-softmax"
)
_PROBABILITIES = (  # given the masked scores and the queries; the right one first
    Form(lambda s, q: attention_probabilities(s)),
    Form(lambda s, q: s.softmax(-1).tril(), "mask-after-softmax", "masked_scores"),
    Form(lambda s, q: s.softmax(-2), "softmax-over-queries"),
    Form(lambda s, q: s.softmax(-1) * q.shape[-1] ** -0.5, "scale-after-softmax"),
)
_FROM_SCORES = (
    FormRow(key="masked_scores", reads=("attention_scores",), forms=_MASKS, unseen=True),
    FormRow(
        key="attention_probabilities",
        reads=("masked_scores", "query"),
        forms=_PROBABILITIES,
        unseen=True,
        moved=(SCALE_MOVED, _AFTER),
    ),
)
BLOCKS = (pre_norm(attention(_FROM_SCORES, whole=()), moved=(_AFTER,)),)
