"""Every correct style is located whole with no mistake named, and mistakes are named where they sit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeVar

import pytest
import torch
from corpus import BASES, edited
from mutants import MUTANTS, PLANTED, REFACTORINGS, WRITTEN, Mutant, Refactoring
from tracing_helpers import RECTANGULAR, SQUARE, sizes_of, trace_changed, trace_of, trace_source

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.locating.steps import Finding
from vitcheck.checks.locating.walk import Walk
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.sizes import Sizes
from vitcheck.reference.stages import stage, stages_of
from vitcheck.submissions.host.trace import Trace

Named = TypeVar("Named", Mutant, Refactoring)
# Named by other checks, which look at more than one pass or at more than values.
OUT_OF_REACH = {
    "report-state-leak": "one pass shows no state",
    "report-params-created-in-forward": "one pass does not show that weights are new",
    "report-stage-recomputed-beside-model": "what the model itself computes is right",
    "report-functional-dropout-always-on": "located as random, the cause shows in the mode",
    "report-dropout-built-in-forward": "located as random, the cause shows in the mode",
    "fused_sdpa-sdpa-dropout-in-eval": "located as random, the cause shows in the mode",
    "report-pre-norm-block": "another architecture, and an assignment says which it allows",
    "prenorm-parallel-block": "another architecture, and an assignment says which it allows",
    "prenorm-sandwich-norm-block": "another architecture, and an assignment says which it allows",
    "prenorm-res-post-norm-block": "another architecture, and an assignment says which it allows",
    "prenorm-report-hybrid-block": "another architecture, and an assignment says which it allows",
}


def each_once(items: Iterable[Named], key: Callable[[Named], object]) -> list[Named]:
    """One of each kind, and of the next kind one of another base; the benchmark has them all."""
    kinds: dict[object, list[Named]] = {}
    for one in items:
        kinds.setdefault(key(one), []).append(one)
    return [kind[number % len(kind)] for number, kind in enumerate(kinds.values())]


NAMED = [
    one
    for one in (*WRITTEN, *each_once(PLANTED, lambda one: (one.id, one.where)))
    if not (one.invisible or one.crashes or one.name in OUT_OF_REACH)
]
SIZES = [
    (replace(SQUARE, batch=3, heads=4, embed_dim=16, mlp_dim=40, classes=5), 1),
    (replace(SQUARE, heads=2, embed_dim=12, height=8, width=8, mlp_dim=48, depth=1), 2),
]


def findings(walk: Walk) -> list[Finding]:
    return [finding for step in walk.steps for finding in step.findings]


def errors(walk: Walk) -> list[str]:
    return [one.id for one in findings(walk) if mistakes()[one.id].kind == "error"]


def assert_clean(trace: Trace, sizes: Sizes) -> Walk:
    walk = locate(trace, sizes, VIT)
    assert walk.unexplained is None
    assert not errors(walk)
    assert all(step.explained for step in walk.steps)
    return walk


@pytest.mark.usefixtures("enforced")
@pytest.mark.parametrize("name", BASES)
def test_a_correct_base_is_located_whole(name: str) -> None:
    walk = assert_clean(trace_of(name), sizes_of(name))
    settled = {step.key for step in walk.steps}
    assert settled == {one.key for one in stages_of(BASES[name].family)} - {"image"}
    assert walk.blocks == 3
    assert walk.architecture == BASES[name].family
    observed = {step.key for step in walk.steps if step.found}
    assert {"patch_embeddings", "positioned_tokens", "attention_context", "logits"} <= observed
    assert len(observed) >= 18


@pytest.mark.parametrize(("number", "name"), list(enumerate(BASES)))
def test_other_sizes_and_weights_change_nothing(number: int, name: str) -> None:
    sizes, seed = SIZES[number % len(SIZES)]
    assert_clean(trace_of(name, sizes, seed), sizes)


@pytest.mark.parametrize(
    "changed", each_once(REFACTORINGS, lambda one: (one.title, one.base[0])), ids=lambda one: one.name
)
def test_a_rewrite_without_a_change_of_values_names_nothing(changed: Refactoring) -> None:
    assert_clean(trace_changed(changed), sizes_of(changed.base))


@pytest.mark.parametrize("name", ["report", "prenorm", "heads_in_batch", "interleaved_qkv"])
def test_what_was_located_holds_at_other_sizes(name: str) -> None:
    walk = locate(trace_of(name), RECTANGULAR, VIT)
    other = replace(RECTANGULAR, batch=3, heads=4, embed_dim=16, mlp_dim=40, height=12, width=8)
    context = replace(walk.context, trace=trace_of(name, other, 4), sizes=other, stages={})
    for step in walk.steps:
        student, right = step.predict(context), step.right(context)
        context.stages[step.key, step.block] = student
        torch.testing.assert_close(student, right, rtol=1e-9, atol=1e-9)


def test_nothing_of_one_pass_is_in_another() -> None:
    walk = locate(trace_of("report"), RECTANGULAR, VIT)
    other = locate(trace_of("report", RECTANGULAR, 9), RECTANGULAR, VIT)
    tensors = [walk.context.stages[step.key, step.block] for step in walk.steps]
    assert not [one for one in tensors if other.places.find(one)]


@pytest.mark.parametrize("mutant", NAMED, ids=lambda one: one.name)
def test_a_mistake_is_named_where_it_sits(mutant: Mutant) -> None:
    walk = locate(trace_changed(mutant), sizes_of(mutant.base), VIT)
    wanted = {mutant.id, *mutant.accepted}
    named = [one for one in findings(walk) if one.id in wanted]
    assert named, [(step.key, step.block, step.found, step.findings) for step in walk.steps]
    assert set(errors(walk)) <= wanted
    assert not mutant.stage or stage(named[0].stage).label in {mutant.stage, *mutant.elsewhere}


def test_a_second_mistake_is_found_where_heads_have_layers_of_their_own() -> None:
    base, few = "per_head_modules", {"embed_dim": 12, "heads": 2, "mlp_dim": 48}  # much fits by chance
    edits = (
        ("x = x.flatten(2)\n", "x = x.reshape(x.shape[0], -1, x.shape[1])\n"),
        ("        x = x.transpose(-1, -2)\n", ""),
        ("math.sqrt(q.size(-1))", "math.sqrt(hidden_state.size(-1))"),
    )
    text, sizes = edited(BASES[base].source(), edits), replace(sizes_of(base), **few)
    walk = locate(trace_source(text, base, sizes), sizes, VIT)
    assert walk.unexplained is None
    assert {"conv-reshape-not-transpose", "scale-by-embed-dim"} <= walk.ids


def test_nothing_is_out_of_reach_any_more_that_is_listed_so() -> None:
    by_name = {one.name: one for one in MUTANTS}
    for name in OUT_OF_REACH:
        mutant = by_name[name]
        ids = {one.id for one in findings(locate(trace_changed(mutant), sizes_of(mutant.base), VIT))}
        assert mutant.id not in ids, name


def test_a_stage_that_nothing_explains_is_measured_and_passed_over() -> None:
    right = "attn_probs = attn_scores.softmax(dim=-1)"
    text = BASES["report"].source().replace(right, f"{right} * 1.37")
    walk = locate(trace_source(text, "report", RECTANGULAR), RECTANGULAR, VIT)
    gaps = [step for step in walk.steps if not step.explained]
    assert {step.key for step in gaps} == {"attention_probabilities"}
    assert "1.37 times" in gaps[0].message
    assert math.isclose(float(walk.context.stage("attention_probabilities", 2).sum(-1).mean()), 1.37)
    assert walk.unexplained is None
    assert walk.blocks == 3
