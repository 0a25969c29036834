"""The search goes on where a wrong explanation leads to sizes that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracing_helpers import sizes_of, trace_of

from vitcheck.checks.locating.best_first import Option, explain
from vitcheck.checks.locating.walk import Walk, begin
from vitcheck.checks.vit.vit_family import VIT


@pytest.mark.parametrize("misfit", [RuntimeError, IndexError, ValueError])
def test_a_way_that_raises_on_wrong_sizes_is_given_up_for_the_next(misfit: type[Exception]) -> None:
    def raising(walk: Walk) -> Iterator[Option]:
        yield Option(5.0, lambda _: True)
        raise misfit

    def fork(walk: Walk) -> Iterator[Option]:
        yield Option(0.0, lambda _: True, (raising,))
        yield Option(1.0, lambda _: True)

    begun = begin(trace_of("prenorm"), sizes_of("prenorm"), VIT)
    walk, explained = explain(begun, (fork,))
    assert explained
    assert walk.price == 1.0
