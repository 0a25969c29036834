"""A mistake is told on the line that has to change."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES
from test_repairing import graded

from vitcheck.submissions.host.process import Zygote

LINES = (  # the base, what is right, what is written instead, what is told, and a part of its line
    ("library_mha", ", batch_first=True", "", "attention-over-batch-axis", "nn.MultiheadAttention("),
    ("handwritten_norm", ", unbiased=False", "", "layernorm-unbiased-variance", "var = x.var("),
    (
        "prenorm",
        "drop_rate) for _ in range(depth)]",
        "drop_rate)] * depth",
        "blocks-share-one-instance",
        "] * depth",
    ),
    (
        "prenorm",
        "x = x + self.attn(self.norm1(x))",
        "x = self.norm1(x)\n        x = x + self.attn(x)",
        "residual-from-normed-attn",
        "x = self.norm1(x)",
    ),
)


@pytest.mark.parametrize(("base", "right", "wrong", "id", "line"), LINES)
def test_a_mistake_is_told_on_the_line_that_has_to_change(
    tmp_path: Path, zygote: Zygote, base: str, right: str, wrong: str, id: str, line: str
) -> None:
    """And not on the one that runs what was made there, or completes what it spoils."""
    result = graded(tmp_path, zygote, BASES[base].source().replace(right, wrong, 1))
    first = result.mistakes[0]
    assert first.location is not None
    assert (first.id, [line in one.text for one in first.location.excerpt if one.marked]) == (id, [True])
