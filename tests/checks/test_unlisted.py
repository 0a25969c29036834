"""A mistake that nobody has listed is placed, measured, and does not end the walk."""

from __future__ import annotations

import pytest
from corpus import BASES
from mutants.mutant import source
from mutants.unlisted import UNLISTED, Unlisted
from tracing_helpers import sizes_of, trace_source

from vitcheck.checks.locating.locate import locate
from vitcheck.checks.locating.walk import Walk
from vitcheck.reference.stages import stage

_ALWAYS = {"layernorm-eps-1e-5"}  # of the base itself


def walk_of(text: str, base: str) -> Walk:
    return locate(trace_source(text, base, sizes_of(base)), sizes_of(base))


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
