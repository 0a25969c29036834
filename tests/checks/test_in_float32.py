"""Constants and casts of float32, as students write them, are right; what is wrong in float32 is not."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable, NotAsked, NotReached
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.kinds.reference import check_reference
from vitcheck.reference.stages import STAGES

ROOT = "math.sqrt(self.head_dim)"


def of(wanted: str) -> str:
    return f"torch.tensor(float({wanted}), dtype=torch.float32)"


RIGHT = {
    "a root of a float32 number": (ROOT, f"torch.sqrt({of('self.head_dim')})"),
    "a float32 factor": (f"/ {ROOT}", f"* {of('self.head_dim ** -0.5')}"),
    "a cast and back": (
        "weights = torch.softmax(scores, dim=-1)",
        "weights = scores.float().softmax(-1).to(scores)",
    ),
}
WRONG = {
    "attention_scores": (ROOT, f"torch.sqrt({of('self.embed_dim')})"),
    "attention_probabilities": (
        "weights = torch.softmax(scores, dim=-1)",
        "weights = scores.float().softmax(-2).to(scores)",
    ),
}


def failed(*edits: tuple[str, str]) -> set[str]:
    """The stages that are not what their equation or the reference gives."""
    examination, found = examine("separate_qkv", *edits), set()
    for one in STAGES[1:]:
        for check in (check_equation, check_reference):
            try:
                check(examination, one.key)
            except CheckFailed:
                found.add(one.key)
            except (NotApplicable, NotAsked, NotReached):
                continue
    return found


@pytest.mark.parametrize("edit", RIGHT.values(), ids=RIGHT)
def test_what_differs_by_the_digits_of_float32_is_right(edit: tuple[str, str]) -> None:
    assert failed(edit) == set()


@pytest.mark.parametrize(("key", "edit"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_in_float32_is_wrong(key: str, edit: tuple[str, str]) -> None:
    assert failed(edit) == {key}
