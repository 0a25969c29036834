"""A mistake that nobody has listed is placed, measured, and does not end the walk."""

from __future__ import annotations

import pytest
import torch
from corpus import BASES
from examining import examine
from mutants.mutant import source
from mutants.unlisted import DEPENDENT, UNLISTED, Unlisted
from tracing_helpers import sizes_of, trace_source

from vitcheck.checks.examining.verdicts import CheckFailed
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.locating.search.nearness import fingerprint
from vitcheck.checks.locating.walk import Walk
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.stages import STAGES, stage

_ALWAYS = {"layernorm-eps-1e-5"}  # of the base itself


def walk_of(text: str, base: str) -> Walk:
    return locate(trace_source(text, base, sizes_of(base)), sizes_of(base), VIT)


@pytest.mark.parametrize("unlisted", UNLISTED, ids=lambda one: one.name)
def test_the_stage_is_named_and_the_relation_measured(unlisted: Unlisted) -> None:
    walk = walk_of(source(unlisted), unlisted.base)
    odd = [step for step in walk.steps if not step.explained]
    assert {stage(step.key).label for step in odd} == {unlisted.stage}
    assert unlisted.says in odd[0].message
    assert [one.id for step in walk.steps for one in step.findings if one.id not in _ALWAYS] == []


@pytest.mark.parametrize("unlisted", UNLISTED, ids=lambda one: one.name)
def test_every_later_stage_is_still_located(unlisted: Unlisted) -> None:
    walk = walk_of(source(unlisted), unlisted.base)
    assert walk.unexplained is None
    assert walk.blocks == sizes_of(unlisted.base).depth
    assert walk.steps[-1].key == "class_probabilities"


def test_a_known_mistake_behind_an_unknown_one_is_named() -> None:
    text = BASES["report"].source()
    for old, new in (
        ("x_after_attn = x_in + attn_out", "x_after_attn = x_in + 0.5 * attn_out"),
        ("x_after_mlp = ff_in + ff_out", "x_after_mlp = x_in + ff_out"),
        ("cls_rep = final_seq[:, 0]", "cls_rep = final_seq[:, -1]"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    walk = walk_of(text, "report")
    ids = {one.id for step in walk.steps for one in step.findings}
    assert ids == {"residual-mlp-from-block-input", "readout-last-token"}
    assert {step.key for step in walk.steps if not step.explained} == {"post_attention_norm"}


def test_attention_that_is_not_followed_hides_nothing_behind_it() -> None:
    """Features attend to features, and the block's sum, its MLP and all that follows is judged."""
    text = BASES["prenorm"].source()
    for old, new in (
        ("q, k, v = qkv.unbind(0)", "q, k, v = (one.transpose(-2, -1) for one in qkv.unbind(0))"),
        ("self.norm(x)\n        return x[:, 0]", "self.norm(x)\n        return x[:, -1]"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    walk = walk_of(text, "prenorm")
    assert walk.steps[-1].key == "class_probabilities"
    assert {one.id for step in walk.steps for one in step.findings} - _ALWAYS == {"readout-last-token"}
    assert {step.key for step in walk.steps if not step.explained} == {"attention_output"}
    assert not {"query", "attention_scores"} & {step.key for step in walk.steps}


def test_a_norm_that_is_wrong_everywhere_is_told_where_it_is_used() -> None:
    text = (
        BASES["handwritten_norm"]
        .source()
        .replace("x.mean(dim=-1, keepdim=True)", "x.mean(dim=(-2, -1), keepdim=True)")
    )
    walk = walk_of(text, "handwritten_norm")
    assert walk.steps[-1].key == "class_probabilities"
    odd = {step.key for step in walk.steps if not step.explained}
    assert odd == {"query", "post_attention_norm", "final_sequence"}
    assert not {one.id for step in walk.steps for one in step.findings} - _ALWAYS


def said_of(text: str, base: str) -> dict[str, str]:
    """What the student reads of every stage that fails, by label."""
    examination = examine(base, (BASES[base].source(), text))
    told = {}
    for one in STAGES[1:]:
        try:
            check_equation(examination, one.key)
        except CheckFailed as failed:
            told[one.label] = failed.message
    return told


@pytest.mark.parametrize("unlisted", DEPENDENT, ids=lambda one: one.name)
def test_what_a_stage_depends_on_and_must_not_is_said_of_the_first_such_stage(unlisted: Unlisted) -> None:
    told = said_of(source(unlisted), unlisted.base)
    assert list(told) == [unlisted.stage]
    assert unlisted.says in told[unlisted.stage]


def test_nothing_is_said_of_other_tokens_where_each_is_computed_from_itself_alone() -> None:
    told = said_of(BASES["prenorm"].source().replace("nn.GELU()", "nn.Hardtanh()"), "prenorm")
    assert list(told) == ["S17"]
    assert "here when" not in told["S17"]


def test_a_stage_is_not_blamed_for_the_leak_of_an_earlier_one() -> None:
    text = BASES["report"].source()
    for old, new in (
        ("attn_scores.softmax(dim=-1)", "attn_scores.softmax(dim=0)"),
        ("ff_hidden = self.act(self.fc1(ff_in))", "ff_hidden = torch.cos(self.fc1(ff_in)) ** 3"),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    assert "here when" not in said_of(text, "report")["S17"]


def test_numbers_that_differ_are_told_apart_behind_a_mask_too() -> None:
    scores = torch.randn(2, 3, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    masked = [scores.masked_fill(one, -torch.inf) for one in (future, future.T, future.triu(2))]
    assert len({fingerprint(one) for one in (scores, scores.mT, 2 * scores, *masked)}) == 6
    assert fingerprint(masked[0]) == fingerprint(masked[0] * (1 + 1e-14))
