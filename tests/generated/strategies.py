"""Generated programs for hypothesis, which shrinks their choices to the first idiom of each slot."""

from __future__ import annotations

from hypothesis import strategies as st

from .composing import right_program
from .program import Program


@st.composite
def right_programs(draw: st.DrawFn) -> Program:
    """Right programs."""
    return right_program(lambda count: draw(st.integers(0, count - 1)))
