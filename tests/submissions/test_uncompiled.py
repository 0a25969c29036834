"""Compiled code runs as it is written, however it asks to be compiled."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vitcheck.submissions.child import requests


def test_nothing_is_compiled_once_the_handlers_are_there() -> None:
    assert requests.HANDLERS
    layer = nn.Linear(2, 3)

    @torch.compile(dynamic=True)
    def twice(x: Tensor) -> Tensor:
        return 2 * x

    assert torch.compile(layer) is layer
    layer.compile()
    assert layer._compiled_call_impl is None
    assert twice.__name__ == "twice"
    assert twice(torch.ones(2)).tolist() == [2.0, 2.0]
