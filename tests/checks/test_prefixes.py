"""A mistake in unfinished work is told as in finished work."""

from __future__ import annotations

import pytest
from prefixes import graded, is_told

from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote


@pytest.mark.parametrize(
    "id",
    [
        "patch-view-whole-image",  # a view, which no record shows
        "cls-appended-last",
        "pos-added-twice",
        "norm1-skipped",
        "scale-by-embed-dim",
        "softmax-over-heads",
        "residual-doubled",
        "readout-last-token",
    ],
)
def test_a_mistake_right_before_what_is_not_written_is_told(id: str, zygote: Zygote) -> None:
    result = graded("pre-norm", id, zygote)
    assert is_told(result, id)
    assert result.unwritten is not None
    assert standing(result).tone == "wrong"
