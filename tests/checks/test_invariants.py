"""What always holds of a stage holds of right code, and says in words what is broken in wrong code."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.examining.verdicts import CheckFailed
from vitcheck.checks.rules.invariants import INVARIANTS
from vitcheck.checks.rules.kinds.invariant import check_invariant

PROBS = "attn_probs = attn_scores.softmax(dim=-1)"
CAT = "torch.cat([cls_tok, x_embed], dim=1)"
BROKEN = [
    ("attention_probabilities", PROBS, f"{PROBS} * 1.5", r"1 over the keys, but yours sum to 1\.5"),
    ("attention_probabilities", PROBS, "attn_probs = attn_scores", "may be negative, but the lowest is -"),
    ("class_token", "self.cls_token.expand(B, -1, -1)", "x_embed.mean(1, keepdim=True)", "for every image"),
    ("tokens", CAT, "torch.cat([x_embed, cls_tok], dim=1)", "Row 0 is not the class token"),
    ("mlp_hidden", "self.act = nn.GELU()", "self.act = nn.Identity()", "GELU is never below"),
    ("class_probabilities", "logits.softmax(dim=-1)", "logits.softmax(dim=0)", "over the classes"),
    ("positioned_tokens", "x_tokens + self.pos_embed", "x_tokens + self.pos_embed[:, :1]", "same position"),
]  # fmt: skip


@pytest.mark.parametrize("base", ["report", "prenorm", "library_encoder", "clip_style"])
def test_all_hold_on_right_code(base: str) -> None:
    examination = examine(base)
    for key in INVARIANTS.keys() - examination.absent - examination.missing.keys():
        check_invariant(examination, key)


@pytest.mark.parametrize(("key", "old", "new", "says"), BROKEN)
def test_a_broken_one_says_how(key: str, old: str, new: str, says: str) -> None:
    with pytest.raises(CheckFailed, match=says) as failed:
        check_invariant(examine("report", (old, new)), key)
    assert failed.value.draw is not None


def test_a_variant_that_the_assignment_accepts_breaks_none() -> None:
    edit = ("self.act = nn.GELU()", "self.act = nn.GELU(approximate='tanh')")
    check_invariant(examine("report", edit), "mlp_hidden")
