"""The search goes on where a wrong explanation leads to sizes that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tracing_helpers import sizes_of, trace_of

from vitcheck.checks.locating.best_first import Option, explain
from vitcheck.checks.locating.patience import USUAL
from vitcheck.checks.locating.search.places import Found, Place
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


def test_what_is_found_on_the_way_gives_a_search_new_patience() -> None:
    """A right model of full size takes more look-ups in all than a search that explains nothing may."""

    def tokens(walk: Walk) -> Iterator[Option]:
        yield Option(0.0, found)

    def found(walk: Walk) -> bool:
        walk.places.look_ups += USUAL.look_ups - 1
        walk.settle("tokens", 0, lambda context: context.image, Found((Place(0, 0, ()),)))
        return True

    walk, explained = explain(begin(trace_of("prenorm"), sizes_of("prenorm"), VIT), (tokens,) * 5)
    assert explained
    assert len(walk.steps) == 5


def test_a_search_that_finds_nothing_ends() -> None:
    def endless(walk: Walk) -> Iterator[Option]:
        yield Option(0.0, looked, (endless,))

    def looked(walk: Walk) -> bool:
        walk.places.look_ups += USUAL.look_ups // 10
        return True

    _, explained = explain(begin(trace_of("prenorm"), sizes_of("prenorm"), VIT), (endless,))
    assert not explained
