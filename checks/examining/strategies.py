"""Hypothesis strategies for an instructor's own checks: what a submission's model is to be tried at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import hypothesis
from hypothesis import strategies as st

from .drawing import Draw
from .examination import Examination
from .passes.shrinking import SETTINGS, draws_of, nothing_kept

_EXAMPLES = 20  # a test may ask for another number, with hypothesis.settings


@dataclass
class Drawing:
    """The submission that is drawn for, and what was drawn last: of a test that fails, the smallest."""

    examination: Examination
    last: Draw | None = None


_DRAWING: ContextVar[Drawing] = ContextVar("drawing")


@st.composite
def draws(draw: st.DrawFn) -> Draw:
    """Sizes of the architecture that is asked for, as near as the model can be built, and a seed.

    The seed is that of the model's weights and of ``image``, what it reads. A test that fails is tried at
    smaller sizes, until none are left at which it does. Raises RuntimeError where there is no submission.
    """
    drawing = _DRAWING.get(None)
    if drawing is None:
        raise RuntimeError("draws() is for a submission: give its test the fixture that examines one")
    found = draw(draws_of(drawing.examination.family.name))
    drawing.last = drawing.examination.buildable(found)
    return drawing.last


@contextmanager
def drawing_for(examination: Examination) -> Iterator[Drawing]:
    """Within, ``draws`` is of this submission."""
    drawing = Drawing(examination)
    token = _DRAWING.set(drawing)
    try:
        yield drawing
    finally:
        _DRAWING.reset(token)


@contextmanager
def drawn_alike() -> Iterator[None]:
    """Within, hypothesis keeps nothing, and draws the same each time."""
    before = hypothesis.settings.default
    assert before is not None  # there is always one
    ours = hypothesis.settings(SETTINGS, max_examples=_EXAMPLES, derandomize=True, report_multiple_bugs=False)
    _load("vitcheck", ours)
    try:
        with nothing_kept():
            yield
    finally:
        _load("before vitcheck", before)


def _load(name: str, settings: hypothesis.settings) -> None:
    hypothesis.settings.register_profile(name, settings)
    hypothesis.settings.load_profile(name)
