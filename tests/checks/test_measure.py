"""What is said of two tensors is the simplest relation between them that holds for every number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from vitcheck.checks.locating.search.relations import measured

RIGHT = torch.randn(2, 7, 24, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
OTHER = torch.randn(2, 7, 24, generator=torch.Generator().manual_seed(2), dtype=torch.float64)

TOLD: dict[str, Callable[[Tensor], Tensor]] = {
    "is 1.37 times what the equation gives": lambda x: 1.37 * x,
    "is what the equation gives plus 0.5 everywhere": lambda x: x + 0.5,
    "is 2 times what the equation gives, plus 0.3": lambda x: 2 * x + 0.3,
    "with its tokens moved by 1": lambda x: x.roll(1, 1),
    "with its features in reverse order": lambda x: x.flip(2),
    "with its images in reverse order|images moved by 1": lambda x: x.flip(0),
    "with its tokens in another order (token 2 at 1, token 1 at 2)": lambda x: x[:, [0, 2, 1, 3, 4, 5, 6]],
    "with its tokens partly repeated (token 5 at 6)": lambda x: x[:, [0, 1, 2, 3, 4, 5, 5]],
    "times a factor for each feature": lambda x: x * OTHER[0, 0],
    "plus something that is the same for all images": lambda x: x + OTHER[0],
    "in token 0 only, where it is 0.5 times": lambda x: torch.cat([x[:, :1] * 0.5, x[:, 1:]], 1),
    "in feature 0 only, where it is 0 everywhere": lambda x: F.pad(x[..., 1:], (1, 0)),
    "is 0 in": lambda x: x * (OTHER > 0),
    "clamped to be at least -1 and at most 1": lambda x: x.clamp(-1, 1),
    "rounded to 2 decimals": lambda x: x.round(decimals=2),
    "as far as float16 goes": lambda x: x.half().double(),
    "the cube of": lambda x: x**3,
    "is 3 times exp of": lambda x: 3 * x.exp(),
    "and 0.2 times where negative": lambda x: F.leaky_relu(x, 0.2),
    "rises with what the equation gives": lambda x: torch.atan(3 * x) + x,
    "scaled to length 1 along the last axis": lambda x: F.normalize(x, dim=-1),
    "is 2 × S08 + 0.5 × S15": lambda x: 2 * OTHER + 0.5 * OTHER**2,
    "is what the equation gives - 0.5 × S08": lambda x: x - 0.5 * OTHER,
    "mixes tokens: token": lambda x: x + 0.5 * x.roll(1, 1),
    "mixes images: image": lambda x: x - 0.25 * x.mean(0, keepdim=True),
    "has the values that the equation gives, in another order": lambda x: x.mT.reshape(2, 7, 24),
}


@pytest.mark.parametrize("told", TOLD)
def test_the_simplest_relation_is_told(told: str) -> None:
    said = measured(TOLD[told](RIGHT), RIGHT, "B T D", {"S08": OTHER, "S15": OTHER**2})
    assert any(one in said for one in told.split("|")), said


def test_no_relation_is_invented() -> None:
    said = measured(RIGHT + OTHER.sin().cumsum(2), RIGHT, "B T D", {"S08": OTHER})
    assert "no simple relation" in said or "nothing in common" in said


def test_what_is_near_by_chance_has_not_lost_precision() -> None:
    """A few hundredths off is within what bfloat16 may be: but then all numbers are such as it can hold."""
    said = measured(RIGHT + 0.02 * OTHER.sin(), RIGHT, "B T D", {"S08": OTHER})
    assert "precision" not in said
    assert "lost precision" in measured(RIGHT.bfloat16().double(), RIGHT, "B T D")


def test_a_transposition_names_both_axes() -> None:
    scores = RIGHT[:, :, :7].unsqueeze(1)
    assert "with queries and keys swapped" in measured(scores.mT, scores, "B h T T")


def test_what_is_infinite_is_counted() -> None:
    assert "NaN or infinite values: 1 of" in measured(
        RIGHT.masked_fill(RIGHT.max() == RIGHT, torch.inf), RIGHT, "B T D"
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_of_what_is_not_finite_nothing_else_is_said(number: float) -> None:
    hole = RIGHT.index_fill(1, torch.tensor([3]), number)
    assert "NaN or infinite values: 24 of" in measured(hole[:1], RIGHT[:1], "B T D")
    assert measured(RIGHT, hole, "B T D") == "It is finite, but the equation gives NaN or infinite values."
    assert "no simple relation" in measured(RIGHT + 0.3 * OTHER, RIGHT, "B T D", {"S08": hole})


def test_that_rows_do_not_sum_to_1_is_said_of_probabilities_alone() -> None:
    scores = torch.randn(2, 2, 5, 5, dtype=torch.float64)
    shares = scores.softmax(-1)
    assert "sum" not in measured(2 * scores, scores, "B h T T")
    assert measured(2 * shares, shares, "B h T T").endswith("It does not sum to 1 along any axis.")
    assert measured(shares, scores, "B h T T").endswith("It sums to 1 over keys.")
