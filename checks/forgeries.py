"""What wants to be graded for something that it is not: no point of it would be earned."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import torch
from torch import Tensor

from ..submissions.answers import Inventory
from ..submissions.errors import Refused, StudentCodeFailed
from ..submissions.trace import Trace
from .examination import Examination
from .library import taken_from_us
from .properties.passes import same

# A traced pass takes fused kernels apart, which in float32 moves numbers by 1e-6; no cheat gains from less.
_OTHER_NUMBERS = 1e-4


def refuse_forgeries(examination: Examination) -> None:
    """Raises Refused for a model of the grader's, and for one that gives other scores when it is not traced.

    What merely varies from pass to pass varies among traced passes, too, and is the checks' to tell.
    """
    if examination.session.is_script or examination.crash is not None or examination.plain.error is not None:
        return
    with suppress(StudentCodeFailed):  # it cannot be built at the sizes that this asks for
        _refuse_ours(examination.inventory)
    first = examination.examples[0]
    traced = _returned(first.trace)
    if _alike(traced, examination.plain.passes[0].tensors):
        return
    if same(traced, _returned(examination.trace(first.draw))):
        raise Refused("the model gives other scores when it is watched than when it is not")


def _refuse_ours(inventory: Inventory) -> None:
    if taken_from_us(inventory):
        raise Refused("the model, or a part of it, is the grader's own, and no work of yours")


def _returned(trace: Trace) -> tuple[Tensor, ...]:
    return tuple(trace.tensor(where) for _, where in trace.outputs)


def _alike(traced: Sequence[Tensor], plain: Sequence[Tensor]) -> bool:
    return [one.shape for one in traced] == [one.shape for one in plain] and all(
        torch.allclose(one, other.to(one.dtype), rtol=_OTHER_NUMBERS, atol=_OTHER_NUMBERS, equal_nan=True)
        for one, other in zip(traced, plain)
    )
