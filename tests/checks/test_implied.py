"""Stages that are no tensors of the pass are implied by what follows from them, and excuse no mistake."""

from __future__ import annotations

import pytest
import torch
from mutants import Refactoring
from tracing_helpers import SQUARE, sizes_of, trace_changed, trace_of
from unusual import UNUSUAL, WRONG

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.examining.passes.replay import reference_pass, replay
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.stages import STAGES
from vitcheck.submissions.host.trace import Trace


def returned(trace: Trace) -> torch.Tensor:
    return trace.tensor(trace.outputs[0][1])


@pytest.mark.parametrize("changed", UNUSUAL, ids=lambda one: one.title)
def test_merged_weights_and_fused_sums_are_no_mistake(changed: Refactoring) -> None:
    trace, sizes = trace_changed(changed), sizes_of(changed.base)
    walk = locate(trace, sizes, VIT)
    assert walk.unexplained is None
    assert all(step.explained for step in walk.steps)
    findings = {one.id for step in walk.steps for one in step.findings}
    assert not {one for one in findings if mistakes()[one].kind == "error"}
    assert "layernorm-no-affine" not in findings
    assert {step.key for step in walk.steps} == {one.key for one in STAGES} - {"image"}
    assert walk.blocks == 3
    usual = {step.key for step in locate(trace_of(changed.base), sizes, VIT).steps if step.found}
    assert usual - {step.key for step in walk.steps if step.found}
    assert all(one.error <= 1e-9 * one.scale for one in replay(walk, trace, sizes))


@pytest.mark.parametrize("changed", UNUSUAL, ids=lambda one: one.title)
def test_the_weights_bound_to_implied_stages_give_the_logits(changed: Refactoring) -> None:
    trace, sizes = trace_changed(changed), sizes_of(changed.base)
    reference = reference_pass(locate(trace, sizes, VIT), trace, sizes)
    torch.testing.assert_close(reference["logits", 0], returned(trace), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("changed", WRONG, ids=lambda one: one.title)
def test_a_mistake_in_unusual_code_is_not_excused(changed: Refactoring) -> None:
    trace = trace_changed(changed)
    assert not torch.allclose(returned(trace), returned(trace_of(changed.base)), rtol=1e-6, atol=1e-6)
    walk = locate(trace, SQUARE, VIT)
    named = {one.id for step in walk.steps for one in step.findings}
    wrong = {one for one in named if mistakes()[one].kind == "error"}
    assert wrong or walk.unexplained is not None or not all(step.explained for step in walk.steps)


def test_what_implied_a_stage_is_said() -> None:
    (changed,) = [one for one in UNUSUAL if one.title == "all four merged"]
    steps = locate(trace_changed(changed), sizes_of(changed.base), VIT).steps
    (query,) = [step for step in steps if (step.key, step.block) == ("query", 1)]
    assert query.message == "Not a tensor of its own; inferred from S12."
    assert not [step for step in steps if step.found is not None and step.message]
