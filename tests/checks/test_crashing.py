"""A pass that raises is explained by what met on which line, at the stage that was being computed."""

from __future__ import annotations

import pytest
from examining import examine
from mutants.crashing import CRASHING, Crashing
from mutants.mutant import source
from tracing_helpers import sizes_of, trace_source

from vitcheck.checks.examining.crashes.crashing import diagnose
from vitcheck.checks.examining.verdicts import CheckFailed, NotReached
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.stages import stage


@pytest.mark.parametrize("crashing", CRASHING, ids=lambda one: one.name)
def test_the_exception_is_explained_where_it_belongs(crashing: Crashing) -> None:
    text = source(crashing)
    trace = trace_source(text, crashing.base, sizes_of(crashing.base))
    assert trace.error is not None
    walk = locate(trace, sizes_of(crashing.base), VIT)
    crash = diagnose(walk, trace.error, {f"{crashing.base}.py": text.encode()}, VIT.by_key)
    assert (stage(crash.stage).label, crash.id) == (crashing.stage, crashing.id)
    assert crashing.says in crash.message
    assert trace.error.type in crash.message
    assert [one.id for step in walk.steps for one in step.findings if one.id != "layernorm-eps-1e-5"] == []


def test_what_met_is_told_by_variable_stage_and_axes() -> None:
    examination = examine("report-cls-cat-on-batch-dim")
    crash = examination.diagnosis
    assert crash is not None
    sizes = examination.first_draw.sizes
    embeddings = f"{sizes.batch} × {sizes.patches} × {sizes.embed_dim} (image × patch × feature)"
    assert f"`x_embed`, S04 (patch embeddings), {embeddings}" in crash.message
    assert f"`cls_tok`, S05 (class token), {sizes.batch} × 1 × {sizes.embed_dim}" in crash.message


def test_two_projections_of_a_pass_that_ends_behind_them_are_not_two_heads() -> None:
    value = "v = self.v(x).view(B, T, self.heads, d).transpose(1, 2)"
    examination = examine("handwritten_norm", (value, "v = 1"))
    assert examination.walk.heads == examination.first_draw.sizes.heads
    check_equation(examination, "query")
    check_equation(examination, "key")


def test_a_block_whose_result_cannot_be_used_fails_though_its_numbers_are_right() -> None:
    examination = examine("report-block-returns-tuple")
    with pytest.raises(CheckFailed, match="tuple") as failed:
        check_equation(examination, "block_output")
    assert failed.value.mistakes == ("block-returns-tuple",)
    check_equation(examination, "post_mlp_norm")
    with pytest.raises(NotReached):
        check_equation(examination, "second_block_output")
