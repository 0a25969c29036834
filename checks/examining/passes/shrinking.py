"""The smallest sizes at which something fails.

Integers and a seed are drawn, never arrays, so that shrinking yields small dimensions.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import hypothesis
from hypothesis import strategies as st
from hypothesis.configuration import set_hypothesis_home_dir

from ...architecture.family import Family
from ...architecture.family import family as family_of
from ..drawing import Draw, drawn

_PASSES = 30  # a traced pass each
SETTINGS = hypothesis.settings(  # nothing is kept, and no clock decides
    phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


@st.composite
def draws_of(draw: st.DrawFn, name: str) -> Draw:
    """What ``draw_examples`` gives for this architecture, drawn by hypothesis, which prefers small sizes."""
    family = family_of(name)  # whose fields hypothesis would spell out in full
    found = drawn(lambda low, high: draw(st.integers(low, high)), family)
    hypothesis.assume(family.sampling.suits(found.sizes))
    return found


def smallest(fails: Callable[[Draw], bool], seed: int, family: Family) -> Draw | None:
    """The smallest draw at which ``fails`` is true; None where none is met in a bounded search."""
    known: dict[Draw, bool] = {}  # hypothesis asks for some draws again, and must get the same answer

    def bounded(draw: Draw) -> bool:
        if draw not in known:
            known[draw] = len(known) < _PASSES and fails(draw)
        return known[draw]

    options = hypothesis.settings(SETTINGS, max_examples=_PASSES)
    try:
        with nothing_kept():
            return hypothesis.find(
                draws_of(family.name), bounded, settings=options, random=random.Random(seed)
            )
    except hypothesis.errors.NoSuchExample:
        return None


@contextmanager
def nothing_kept() -> Iterator[None]:
    """Hypothesis reads and keeps notes in the working folder, which may be a student's."""
    set_hypothesis_home_dir(os.devnull)
    try:
        yield
    finally:
        set_hypothesis_home_dir(None)
