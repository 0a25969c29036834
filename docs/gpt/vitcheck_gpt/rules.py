"""What is right in a GPT beside its equations."""

from __future__ import annotations

import torch
from torch import Tensor

from vitcheck.api import (
    INVARIANTS,
    MEASURES,
    PROPERTIES,
    CheckFailed,
    Context,
    Examination,
    Example,
    NotReached,
    Rulebook,
    Seen,
    example_of,
    far,
)

from .table import STAGES

_OF_IMAGES = {  # properties that mean nothing where tokens are read
    "memory-layout", "joint-permutation", "positions-matter", "other-resolution", "uneven-image",
    "operations", "usual-forms", "preprocessing", "eval-mode-in-scripts",
}  # fmt: skip
_EXACT = 1e-12  # sums of a few float64 numbers below 1


def looks_back(example: Example, seen: Seen) -> str | None:
    """No token attends to a later one, and each row sums to 1."""
    if bool((seen.student.triu(1) != 0).any()):
        return "no token may attend to a later one, but one does"
    sums = seen.student.sum(-1)
    return None if bool(((sums - 1).abs() <= _EXACT).all()) else "each row must sum to 1, but one does not"


def _logits(context: Context) -> Tensor:
    if ("logits", 0) not in context.stages:
        raise NotReached("the logits were not found")
    return context.stage("logits")


def _with_another(examination: Examination, position: int) -> tuple[Tensor, Tensor]:
    """The logits of the first example, and those with another token at ``position``."""
    example = example_of(examination)
    ids = example.draw.image.clone()
    ids[:, position] = (ids[:, position] + 1) % example.draw.sizes.vocabulary
    return _logits(examination.before()), _logits(examination.again(ids))


def causality(examination: Examination) -> None:
    """The logits of a token do not depend on later tokens.

    Else: The logits of a token depend on later tokens
    """
    before, after = _with_another(examination, -1)
    if far(before[:, :-1], after[:, :-1]):
        text = "the logits of earlier tokens change with the last token"
        raise CheckFailed(text, (), examination.first_draw)


def context_is_read(examination: Examination) -> None:
    """The logits of the last token depend on the first one.

    Else: The logits of the last token do not depend on the first one
    """
    before, after = _with_another(examination, 0)
    if torch.equal(before[:, -1], after[:, -1]):
        text = "the logits of the last token do not change with the first token"
        raise CheckFailed(text, (), examination.first_draw)


GPT_RULES = Rulebook(
    invariants={
        **{one.key: INVARIANTS[one.key] for one in STAGES if one.key in INVARIANTS},
        "attention_probabilities": looks_back,
    },
    properties={
        **{name: one for name, one in PROPERTIES.items() if name not in _OF_IMAGES},
        "causality": causality,
        "context-is-read": context_is_read,
    },
    measures={
        **{one.key: MEASURES[one.key] for one in STAGES if one.key in MEASURES},
        "positioned_tokens": {},
        "attention_probabilities": {"row_sums": MEASURES["attention_probabilities"]["row_sums"]},
    },
)
