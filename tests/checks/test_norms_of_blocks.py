"""A norm that each block has is the blocks' own, wherever else such a norm might stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file
from test_unfinished import BEHIND_TOKENS, FINISHED

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.submissions.host.process import Zygote

_NORMED = ("x = x + self.attention(self.norm1(x))", "x = self.norm1(x)\n        x = x + self.attention(x)")
_TOKENS_TO_COME = (
    FINISHED[FINISHED.index("        x = torch.cat(") : FINISHED.index("        for block in self")],
    "        # TODO: class token and positions\n",
)
_HEAD_TO_COME = (
    "        return self.head(self.pooled(self.norm(x)))",
    "        x = self.norm(x)\n        # TODO: classification\n        return x",
)


@pytest.mark.parametrize(
    "edits",
    [
        [],
        [_TOKENS_TO_COME, _HEAD_TO_COME],
        [(BEHIND_TOKENS, BEHIND_TOKENS.replace("pooled(self.norm(x))", "norm(self.pooled(x))"))],
    ],
    ids=["finished", "without class token, positions and head", "a norm of the class token alone"],
)
def test_a_residual_of_normed_tokens_is_told_where_any_block_is_accepted(
    edits: list[tuple[str, str]], zygote: Zygote, tmp_path: Path
) -> None:
    """It equals a norm of the tokens before the blocks, and blocks that end in the norm of the next."""
    text = edited(FINISHED, [*edits, _NORMED])
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["residual-from-normed-attn"]


def test_a_norm_before_the_blocks_is_one_of_its_own(zygote: Zygote, tmp_path: Path) -> None:
    text = edited(
        FINISHED,
        [
            (
                "        self.norm, self.head",
                "        self.first = nn.LayerNorm(dim)\n        self.norm, self.head",
            ),
            ("x = x + self.pos", "x = self.first(x + self.pos)"),
        ],
    )
    result = graded_file(text, load_assignment(DEFAULT), zygote, tmp_path)
    assert result.mistakes == []
    assert "extra-norm-before-encoder" in {one.id for one in result.variants}
