"""Whatever is given to ``vitcheck.check``: it is graded as what it is, or a sentence says what to give."""

from __future__ import annotations

import math
import pathlib
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from one_file import ATTENTION

import vitcheck

_PARTS = (
    ATTENTION.replace("(D // self.heads) ** 0.5", "D ** 0.5")
    + """

def add(x):
    return x + 1
"""
)


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module with parts of a model, whose attention has a wrong scale."""
    (tmp_path / "my_parts.py").write_text(_PARTS, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "my_parts", raising=False)
    monkeypatch.chdir(tmp_path)
    return __import__("my_parts")


def test_the_first_stage_that_is_wrong_leads_whichever_was_asked_about(parts: ModuleType) -> None:
    result = vitcheck.check(parts.Attention, stage="S15")
    assert result.stages["S15"].status.value == "passed"
    assert repr(result).startswith("✗ S12: Attention scores, wrong")


@pytest.mark.parametrize("stage", [None, "S04", "S18"])
def test_a_part_is_told_by_what_it_does(parts: ModuleType, stage: str | None) -> None:
    result = vitcheck.check(parts.Attention, stage=stage)
    assert result.notes[0].text.endswith("graded as one: Multi-head self-attention (S09 to S15).")
    assert result.shown_stage == "S12"
    assert "S12" in result._repr_html_()


def test_what_is_no_part_of_a_model_is_graded_as_what_was_asked_for(parts: ModuleType) -> None:
    result = vitcheck.check(parts.add)
    assert result.asked is not None
    assert (result.asked.known_as, result.score.earned) == ("vit", 0)


_OBJECTS = st.one_of(
    st.none(),
    st.integers(),
    st.floats(),
    st.binary(),
    st.text().filter(lambda text: not Path(text).exists()),
    st.lists(st.integers()),
    st.dictionaries(st.text(), st.integers()),
    st.sampled_from(
        [print, math, math.sqrt, int, type, object(), pathlib.Path, lambda x: x, Exception("no")]
    ),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(what=_OBJECTS, stage=st.sampled_from([None, "S04", "S15", "S99", ""]))
def test_any_object_gets_a_sentence_and_no_lines_of_ours(what: object, stage: str | None) -> None:
    with pytest.raises((ValueError, FileNotFoundError)) as refused:
        vitcheck.check(what, stage=stage)
    shown: Callable[[], list[str]] = vars(refused.value)["_render_traceback_"]
    assert shown() == [f"{refused.type.__name__}: {refused.value}"]
    assert str(refused.value)
