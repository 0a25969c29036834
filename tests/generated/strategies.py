"""Generated programs for hypothesis, which shrinks their choices to the first idiom of each slot."""

from __future__ import annotations

from hypothesis import strategies as st

from .composing import right_program
from .program import Program
from .wrong import Wrong, wrong_program


@st.composite
def right_programs(draw: st.DrawFn) -> Program:
    """Right programs."""
    return right_program(lambda count: draw(st.integers(0, count - 1)))


@st.composite
def wrong_programs(draw: st.DrawFn) -> Wrong | None:
    """Right programs with a slip; None where those drawn changed nothing."""

    def below(count: int) -> int:
        return draw(st.integers(0, count - 1))

    return wrong_program(right_program(below), below)
