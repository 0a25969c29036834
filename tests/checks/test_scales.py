"""A scale of the scores that is one number, whatever the sizes."""

from __future__ import annotations

import pytest
from examining import BRIEF, examine

RIGHT = {
    "report": "math.sqrt(self.head_dim)",
    "prenorm": "head_dim**-0.5",
    "fused_sdpa": "(q, k, v, dropout_p",
}
SEVERAL = BRIEF.model_copy(update={"examples": 12})


@pytest.mark.parametrize(
    ("base", "number"),
    [
        ("report", "8.0"),  # of a head that is 8 wide it is the width
        ("report", "math.sqrt(64)"),
        ("prenorm", "0.3"),
        ("prenorm", "1 / 2"),  # right where a head is 4 wide
        ("fused_sdpa", "(q, k, v, scale=0.125, dropout_p"),
    ],
)
def test_a_fixed_number_is_called_one_at_every_size(base: str, number: str) -> None:
    examination = examine(base, (RIGHT[base], number), assignment=SEVERAL)
    assert examination.faults("attention_scores") == ["scale-by-num-heads"]
    assert not examination.unexplained


def test_what_changes_with_the_size_is_no_fixed_number() -> None:
    examination = examine("report", (RIGHT["report"], "self.head_dim**0.3"), assignment=SEVERAL)
    assert examination.faults("attention_scores") == []
    assert {key for key, _ in examination.unexplained} == {"attention_scores"}


@pytest.mark.parametrize(
    ("number", "name"), [("1.0", "scale-missing"), ("self.head_dim", "scale-by-head-dim")]
)
def test_a_known_scale_keeps_its_name(number: str, name: str) -> None:
    assert examine("report", (RIGHT["report"], number), assignment=SEVERAL).faults("attention_scores") == [
        name
    ]
