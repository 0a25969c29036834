"""Two mistakes in one model, far enough apart that neither hides the other."""

from __future__ import annotations

from collections.abc import Iterable

from .mutant import Mutant, Pair

# Names of mutants, without their base.
_TOGETHER = (
    ("pos-off-by-one", "scale-missing"),
    ("softmax-over-queries", "activation-missing"),
    ("residual-doubled-attention", "readout-last-token"),
    ("cls-appended-last", "softmax-twice"),
    ("norm2-skipped", "scale-by-embed-dim"),
    ("probs-transposed", "depth-off-by-one"),
    ("heads-merged-without-transpose", "final-norm-missing"),
    ("pos-multiplied", "residual-mlp-missing"),
    ("conv-reshape-not-transpose", "scale-by-embed-dim"),
)


def paired(mutants: Iterable[Mutant]) -> tuple[Pair, ...]:
    """Each two of the list above, in every base that has both."""
    named = {one.name: one for one in mutants}
    bases = dict.fromkeys(one.base for one in named.values())
    return tuple(
        Pair(named[f"{base}-{first}"], named[f"{base}-{second}"])
        for base in bases
        for first, second in _TOGETHER
        if f"{base}-{first}" in named and f"{base}-{second}" in named
    )
