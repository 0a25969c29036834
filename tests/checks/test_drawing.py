"""Drawn sizes hide no mistake, and a seed gives the same ones each time."""

from __future__ import annotations

import pytest
import torch

from vitcheck.checks.examining.drawing import Draw, draw_examples, noise, small_draw
from vitcheck.checks.examining.passes.shrinking import smallest
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.submissions.questions.size_limits import pass_numbers


@pytest.mark.parametrize("seed", range(4))
def test_as_many_examples_are_drawn_as_asked_for_and_all_axes_can_be_told_apart(seed: int) -> None:
    drawn = list(draw_examples(6, seed, VIT))
    assert len(drawn) == 6
    for sizes in (one.sizes for one in drawn):
        assert sizes.height != sizes.width
        assert min(sizes.batch, sizes.heads) > 1
        assert sizes.depth == 3
        assert sizes.head_dim not in (sizes.heads, sizes.patch)
        assert len({sizes.batch, sizes.tokens, sizes.patches, sizes.heads}) == 4


def test_the_seed_decides() -> None:
    assert list(draw_examples(3, 5, VIT)) == list(draw_examples(3, 5, VIT))
    assert list(draw_examples(3, 5, VIT)) != list(draw_examples(3, 6, VIT))


def test_a_draw_has_the_same_image_each_time_and_other_seeds_others() -> None:
    draw = next(draw_examples(1, 0, VIT))
    sizes = draw.sizes
    assert draw.image.shape == (sizes.batch, sizes.channels, sizes.height, sizes.width)
    assert draw.image.dtype == torch.float64
    assert torch.equal(draw.image, Draw(sizes, draw.seed).image)
    assert not torch.equal(draw.image, noise(sizes, draw.seed + 1))


def test_the_smallest_draw_is_small_and_fails() -> None:
    found = smallest(lambda draw: draw.sizes.heads >= 4, 0, VIT)
    assert found is not None
    assert found.sizes.heads == 4
    assert found.sizes.batch == 2
    assert found == smallest(lambda draw: draw.sizes.heads >= 3, 0, VIT)


def test_a_small_draw_is_about_as_small_as_the_smallest() -> None:
    small, smallest_of_all = small_draw(3, VIT), smallest(lambda _: True, 3, VIT)
    assert smallest_of_all is not None
    assert VIT.sampling.suits(small.sizes)
    assert pass_numbers(small.sizes) < 2 * pass_numbers(smallest_of_all.sizes)


def test_what_never_fails_has_no_smallest_draw_and_the_search_ends() -> None:
    asked: list[Draw] = []

    def fails(draw: Draw) -> bool:
        asked.append(draw)
        return False

    assert smallest(fails, 0, VIT) is None
    assert 0 < len(asked) <= 30
