"""What the mask makes of scores, and the probabilities that follow: the right way, and known wrong ones."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from vitcheck.api import Form, attention_probabilities

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


def _under(mask: Mask, id: str | None = None) -> Form:
    """Softmax under a mask; what is wrong with it shows in the masked scores."""
    blame = None if id is None else "masked_scores"
    return Form(lambda s, q: attention_probabilities(mask(s)), id, blame, masked=mask)


# Given the scores and the queries; the right one first.
PROBABILITIES = (
    _under(causal),
    _under(_as_is, "mask-missing"),
    Form(lambda s, q: s.softmax(-1).tril(), "mask-after-softmax", "masked_scores", masked=_as_is),
    _under(_hide(2, -math.inf), "mask-off-by-one"),
    _under(_hide(0, _LARGE), "mask-off-by-one"),
    _under(_hide_past, "mask-upside-down"),
    _under(_hide(1, 0.0), "mask-filled-with-zero"),
    *(_under(_hide(1, fill), "mask-filled-with-small-number") for fill in _FILLS),
    Form(lambda s, q: causal(s).softmax(-2), "softmax-over-queries", masked=causal),
    Form(lambda s, q: causal(s).softmax(-1) * q.shape[-1] ** -0.5, "scale-after-softmax", masked=causal),
)
