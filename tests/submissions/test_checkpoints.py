"""Activation checkpoints, which compute a part of the pass anew in the backward pass."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.utils import checkpoint as checkpoints

from vitcheck.submissions.child import requests
from vitcheck.submissions.child.dtypes import default_dtype


def _cast(x: Tensor, weight: Tensor) -> Tensor:
    return torch.softmax(x.float() @ weight.float(), -1, dtype=torch.float32).to(x.dtype)


@pytest.mark.parametrize("reentrant", [False, True])
def test_gradients_come_through_in_the_type_of_the_pass(reentrant: bool) -> None:
    assert requests.HANDLERS
    with default_dtype(torch.float64):
        x, weight = torch.randn(2, 3, requires_grad=True), torch.randn(3, 3, requires_grad=True)
        direct = torch.autograd.grad(_cast(x, weight).square().sum(), [x, weight])
        out = checkpoints.checkpoint(_cast, x, weight, use_reentrant=reentrant)
        found = torch.autograd.grad(out.square().sum(), [x, weight])
    assert all(torch.equal(one, other) for one, other in zip(direct, found, strict=True))


def test_one_that_is_entered_again_learns_nothing_from_what_does_not() -> None:
    weight = torch.randn(3, 3, requires_grad=True)
    out = checkpoints.checkpoint(lambda x: x @ weight, torch.randn(2, 3), use_reentrant=True)
    assert not out.requires_grad
