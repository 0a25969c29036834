"""A scale of the scores that is one number at every size, and by chance a known one at some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..locating.comparing import ROUNDING
from ..locating.search.nearness import factor, same
from ..locating.steps import Finding
from .passes.example import Example

_STAGE = "attention_scores"


def fixed_scale(examples: Sequence[Example]) -> Finding | None:
    """What is wrong where no function of the sizes explains the scale in all examples, and a number does."""
    measured = [one for example in examples for one in _measured(example)]
    told = {one for example in examples for one in _told(example)}
    by_one_form = len(told) == 1 and "unknown" not in told
    if by_one_form or len({width for width, _ in measured}) < 2 or len(measured) < len(examples):
        return None
    _, first = measured[0]
    fixed = all(abs(number - first) <= ROUNDING * abs(first) for _, number in measured)
    return Finding("scale-by-num-heads", _STAGE, None) if fixed else None


def _told(example: Example) -> Iterator[str]:
    """What the first block's scale was taken for: the name of a mistake, right (""), or unknown."""
    for seen in example.all(_STAGE)[:1]:
        yield " ".join(one.id for one in seen.step.findings) if seen.step.explained else "unknown"


def _measured(example: Example) -> Iterator[tuple[int, float]]:
    """The width of a head, and what its scores are a multiple of q · kᵀ by, if they are one."""
    for scores, query in zip(example.all(_STAGE)[:1], example.all("query")[:1]):
        if scores.student.shape != scores.right.shape:
            continue
        times, _ = factor(scores.student, scores.right)
        if times and same(scores.student, times * scores.right):
            width = query.student.shape[-1]
            yield width, times * width**-0.5
