"""Passes over one image that run other operations each time, and honest code that only seems to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from examining import BRIEF, examine

from vitcheck.checks.examining.passes import examples
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.locating.locate import likeliest
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.properties.images_in_batches import batch_independence

_DRAWN = ("from torch import nn\n", "from torch import nn\nimport itertools\n_NUMBERS = itertools.count()\n")
_ATTENTION = "attn_probs = attn_scores.softmax(dim=-1)"


def _adding(place: str, name: str) -> tuple[str, str]:
    return place, f"{place}\n        for _ in range(next(_NUMBERS) % 61): {name} = {name} + 0"


def test_stages_before_the_first_other_operation_are_judged_and_those_behind_it_fail() -> None:
    examination = examine("report", _DRAWN, _adding(_ATTENTION, "attn_probs"), seed=3)
    check_equation(examination, "attention_scores")
    for key in ("attention_context", "logits"):
        with pytest.raises(CheckFailed, match="other operations each time"):
            check_equation(examination, key)
    with pytest.raises(CheckFailed, match="other operations each time"):
        batch_independence(examination)


def test_such_a_submission_is_located_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 0

    def counted(*arguments: object) -> object:
        nonlocal count
        count += 1
        return likeliest(*arguments)  # type: ignore[arg-type]  # passed on

    monkeypatch.setattr(examples, "likeliest", counted)
    monkeypatch.setattr(examples, "locate", lambda *_: pytest.fail("located again"))
    examination = examine("report", _DRAWN, _adding(_ATTENTION, "attn_probs"), seed=3)
    for key in ("attention_context", "logits"):
        with pytest.raises(CheckFailed):
            check_equation(examination, key)
    assert count == 1


def test_what_takes_long_to_locate_is_located_in_a_few_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code with a loop over tokens runs other operations at each size."""
    asked = BRIEF.model_copy(update={"examples": 8})
    assert len(examine("token_loops", assignment=asked).examples) == 8
    monkeypatch.setattr(examples, "_MOST_LOOK_UPS", 1)
    assert 4 <= len(examine("token_loops", assignment=asked).examples) < 8  # sizes that come again are free


def test_a_pass_that_takes_more_memory_than_there_is_is_not_looked_at() -> None:
    """It would end the process, and a right program would lose what was to be seen after it."""
    examination = examine("prenorm", assignment=BRIEF)
    small = examination.first_draw
    large = replace(small, sizes=replace(small.sizes, depth=60, batch=10_000))
    with pytest.raises(NotApplicable, match=r"batch 10000.* takes too much memory"):
        examination.trace(large)
    assert examination.trace(small).error is None


def test_what_is_kept_from_the_first_pass_on_is_no_other_operation_each_time() -> None:
    kept = """
_KEPT = {}
def zeros(shape):
    if shape not in _KEPT: _KEPT[shape] = torch.ones(shape).cumsum(-1) * 0
    return _KEPT[shape]
"""
    program = ("from torch import nn\n", f"from torch import nn\n{kept}")
    examination = examine("report", program, (_ATTENTION, f"{_ATTENTION} + zeros(attn_scores.shape[-1:])"))
    assert examination.examples
    assert examination.parted is None


@pytest.mark.parametrize("name", ["loops", "token_loops", "query_chunks", "stochastic_depth"])
def test_loops_run_the_same_operations_for_the_same_image(name: str) -> None:
    examination = examine(name)
    assert len(examination.examples) == 2
    assert examination.parted is None
