"""A mistake in unfinished work is told as in finished work."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest
from prefixes import Prefix, Whole, fate, prefixes, right_programs, wrong_programs

from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote


@cache
def _programs() -> Mapping[str, Whole]:
    return {one.name: one for one in (*right_programs(), *wrong_programs())}


def _cut(name: str, zygote: Zygote, at: int = 0) -> Prefix:
    return prefixes(_programs()[name], zygote)[1][at]


@pytest.mark.parametrize(
    "name",
    [
        "pre-norm reference unfold-view-no-permute",  # a view, which no record shows
        "pre-norm reference norm-after-projection",
        "scaled_query-cls-appended-last",
        "unfold_style-cls-mean-of-patches",
        "pre-norm reference cls-random-each-forward",
        "separate_qkv-heads-split-without-transpose",
    ],
)
def test_a_mistake_right_before_what_is_not_written_is_told(name: str, zygote: Zygote) -> None:
    cut = _cut(name, zygote)
    result = cut.graded(zygote)
    assert fate(cut, result) == "told", cut.name
    assert standing(result).tone == "wrong"
