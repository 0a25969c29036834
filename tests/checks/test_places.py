"""A predicted tensor is found in whatever layout a pass computed it, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from tracing_helpers import trace_model

from vitcheck.checks.locating.search.places import Places, places_in

SHAPE = (3, 2, 5, 4)  # B h T d


class Pass(nn.Module):
    """Computes one tensor in some layout."""

    def __init__(self, function: Callable[[Tensor], object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> object:
        return self.function(x)


def numbers(seed: int = 0) -> Tensor:
    return torch.randn(SHAPE, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def places(function: Callable[[Tensor], object], x: Tensor | None = None) -> Places:
    return places_in(trace_model(Pass(function), numbers() if x is None else x))


def preallocated(x: Tensor) -> Tensor:
    out = x.new_zeros(3, 2, 7, 4)
    out[:, :, 1:6] = 2 * x
    return out


def written_over(x: Tensor) -> Tensor:
    out = 3 * x
    out *= 2 / 3
    return out


LAYOUTS: dict[str, Callable[[Tensor], object]] = {
    "as it is": lambda x: 2 * x,
    "keys transposed": lambda x: 2 * x.mT.contiguous(),
    "sequence first": lambda x: 2 * x.permute(2, 0, 1, 3).contiguous(),
    "heads folded into the batch": lambda x: 2 * x.flatten(0, 1),
    "heads side by side": lambda x: 2 * x.transpose(1, 2).flatten(2),
    "a channel-first map": lambda x: 2 * x.permute(0, 1, 3, 2).flatten(1, 2),
    "a slice of something larger": lambda x: 2 * torch.cat([x + 1, x, x - 1], -1),
    "in a buffer": preallocated,
    "in place": written_over,
    "a record a head": lambda x: [2 * x[:, head] for head in range(2)],
    "a record an image": lambda x: [2 * x[image] for image in range(3)],
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_is_found(name: str) -> None:
    assert places(LAYOUTS[name]).find(2 * numbers(), after=0) is not None


def test_the_place_says_where_the_numbers_lie() -> None:
    there = places(lambda x: 2 * x.permute(2, 0, 1, 3).contiguous())
    (place,) = there.all(2 * numbers(), after=0)
    assert torch.equal(torch.from_numpy(there.at(place, SHAPE).copy()), 2 * numbers())


@pytest.mark.parametrize(
    "scrambled",
    [
        lambda x: 2 * x.reshape(3, 5, 2, 4),
        lambda x: 2 * x.transpose(1, 2).reshape(3, 5, 2, 4).reshape(SHAPE).sin(),
        lambda x: torch.cat([torch.zeros(3, 1, 40), 2 * x.transpose(1, 2).reshape(3, 1, 40)], 1),
    ],
)
def test_a_recut_copy_is_not_the_tensor(scrambled: Callable[[Tensor], Tensor]) -> None:
    wanted = 2 * numbers().mT.reshape(SHAPE)
    assert places(scrambled).find(wanted, after=0) is None


def test_a_difference_in_the_seventh_digit_is_seen() -> None:
    assert places(lambda x: (2 + 6e-7) * x).find(2 * numbers(), after=0) is None


def test_what_came_before_is_not_found() -> None:
    there = places(lambda x: (2 * x).exp())
    assert there.find(2 * numbers(), after=0) is not None
    assert there.find(2 * numbers(), after=1) is None


def test_a_row_that_is_equal_for_all_images_does_not_hide_the_tensor() -> None:
    x = numbers()
    x[:, :, 0] = x[0, 0, 0]
    assert places(lambda one: 2 * one, x).find(2 * x, after=0) is not None


def test_zeros_do_not_hide_the_tensor() -> None:
    assert places(lambda x: (2 * x).relu()).find((2 * numbers()).relu(), after=1) is not None


def test_a_tensor_that_is_constant_along_an_axis_has_no_place() -> None:
    constant = numbers()[:, :, :1].expand(SHAPE)
    assert places(lambda x: 2 * x[:, :, :1].expand(SHAPE).contiguous()).find(2 * constant, after=0) is None


def test_other_numbers_are_never_there() -> None:
    there = places(lambda x: [2 * x, x.softmax(-1), x @ x.mT])
    assert all(there.find(numbers(seed), after=-1) is None for seed in range(1, 30))


def test_what_an_earlier_pass_left_in_memory_is_not_the_tensor() -> None:
    """Memory that is handed out again holds what was there: all of it, once its first token is written."""

    def in_two_steps(x: Tensor) -> Tensor:
        out = x.new_empty(SHAPE)
        out[:, :, :1] = 2 * x[:, :, :1]
        out[:, :, 1:] = 2 * x[:, :, 1:]
        return out

    x = numbers()
    for _ in range(20):  # each may get the memory of the one before
        trace = trace_model(Pass(in_two_steps), x)
        found = places_in(trace).find(2 * x, 0)
        assert found is not None
        assert {place.record for place in found.places} == {len(trace.records) - 1}
        del trace


def test_any_bits_may_lie_in_memory_that_is_yet_to_be_written() -> None:
    def in_two_steps(x: Tensor) -> Tensor:
        out = x.new_empty(SHAPE)
        out[:, :, :2] = 2 * x[:, :, :2]
        out[:, :, 2:] = 2 * x[:, :, 2:]
        return out

    x = numbers()
    trace = trace_model(Pass(in_two_steps), x)
    half, whole = (
        one for one in trace.records if one.cells.numel() == x.numel() and one.op == "copy_.default"
    )
    half.cells.copy_(whole.cells)
    half.cells.view(torch.int64)[x.abs().argmin()] = 0x7FF0000000000001  # a NaN that numpy warns of
    found = places_in(trace).find(2 * x, 0)
    assert found is not None
    assert {place.record for place in found.places} == {whole.number}


def test_tokens_that_are_put_together_in_one_go_cost_the_same_however_many_they_are() -> None:
    """A search may look up so many values: a right model of 196 patches is not to run out of them."""

    def effort(tokens: int) -> int:
        x = torch.randn(2, tokens, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        there = places(lambda one: torch.cat([one[:, :1] * 3, one[:, 1:] * 2], 1), x)
        wanted = torch.cat([x[:, :1] * 3, x[:, 1:] * 2], 1)
        assert there.find(wanted, after=0) is not None
        return there.look_ups

    assert effort(100) <= effort(10) + 10


def test_a_largest_number_that_each_row_has_does_not_hide_the_tensor() -> None:
    """As in a softmax by hand: the exponents less the row's largest are exp(0) once a row."""

    def function(x: Tensor) -> Tensor:
        return (x - x.amax(-1, keepdim=True)).exp()

    x = torch.randn(4, 4, 20, 20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert places(function, x).find(function(x), after=0) is not None


def test_of_one_image_a_slice_for_each_image_is_the_whole() -> None:
    """A class token is found image by image, since all have the same, and large models run on one, too."""
    x = numbers()[:1, 0]
    there = places(lambda one: 2 * one, x)
    assert there.hold(2 * x, (0,))
    assert not there.hold(3 * x, (0,))
