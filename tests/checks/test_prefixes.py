"""A mistake in unfinished work is told as in finished work, and what is right there is not called wrong."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest
from prefixes import Whole, fate, prefixes, right_programs, wrong_programs

from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote


@cache
def _programs() -> Mapping[str, Whole]:
    return {one.name: one for one in (*right_programs(), *wrong_programs())}


@pytest.mark.parametrize(
    "name",
    [
        "pre-norm reference unfold-view-no-permute",  # a view, which no record shows
        "pre-norm reference norm-after-projection",
        "unfold_style-cls-mean-of-patches",
        "pre-norm reference cls-random-each-forward",
        "separate_qkv-heads-split-without-transpose",  # of the query alone, as far as it is written
        "separate_qkv-values-not-projected",
        "handwritten_norm-layernorm-no-sqrt",
    ],
)
def test_a_mistake_right_before_what_is_not_written_is_told(name: str, zygote: Zygote) -> None:
    cut = prefixes(_programs()[name], zygote)[1][0]
    result = cut.graded(zygote)
    assert fate(cut, result) == "told", cut.name
    assert standing(result).tone in ("wrong", "unfinished")  # a variant is accepted


@pytest.mark.parametrize(
    "name",
    [
        "clip reference",
        "fused_sdpa",  # projects queries, keys and values in one, and cuts them into heads later
        "vector_tokens",  # projects its keys first
        "all_by_hand",  # projects its values last, head by head
        "stacked_weights",  # of all blocks in one
        "jax_vmap",  # computes all heads at once, in tensors that cannot be read
        "position_maps",  # norms its tokens into the variable of the stream
        "library_stack",  # has a part whose name is more like a model's, and axes in another order
    ],
)
def test_what_is_right_as_far_as_it_is_written_is_not_blamed(name: str, zygote: Zygote) -> None:
    for cut in prefixes(_programs()[name], zygote)[1][:2]:
        assert fate(cut, cut.graded(zygote)) == "right", cut.name


@pytest.mark.parametrize("name", ["library_mha", "raw_parameters", "returns_tuple"])
def test_a_gap_inside_a_block_is_not_taken_for_its_end(name: str, zygote: Zygote) -> None:
    """Where the block gives back what it is given, its result is not thrown away, and is no pair."""
    whole = _programs()[name]
    inside = [
        one for one in prefixes(whole, zygote)[1] if one.last in ("attention_context", "attention_output")
    ]
    assert inside
    for cut in inside:
        assert fate(cut, cut.graded(zygote)) == "right", cut.name
