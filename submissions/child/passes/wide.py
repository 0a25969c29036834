"""Child side: one plain pass in float32 at sizes at which models are really used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from ...questions.pooled import Pooled
from ...questions.randomise import floating, is_drawn, named_tensors, spread_and_centre
from ...questions.recording import Recorded, TensorRow
from ...questions.uses import RunWide, Wide
from ..building.probing import as_given
from ..child import failure_in_bounds
from ..dtypes import default_dtype
from ..subject import built
from ..tracing.dispatch_mode import Mode
from ..tracing.results import carried, results_in
from ..tracing.shapes_alone import FILLED, recorded_shapes
from ..tracing.tracing import Tracer
from .plain import begin_pass
from .recorded_passes import record

_MANY = 1 << 16  # numbers; fewer are drawn as the code says


class _Unfilled(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Inside it, large tensors are not filled with random initial values, which are replaced anyway."""

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if func in FILLED and args[0].numel() > _MANY:
            return args[0] if isinstance(args[0], nn.Parameter) else args[0].zero_()
        return func(*args, **kwargs)


def wide_pass(asked: RunWide) -> Wide[Recorded]:
    """The shapes of a recorded pass, the scores of a plain one, and all numbers that the model holds.

    Those of a parameter are told as the way in which they were drawn. Where the code computes weights from
    others, one more pass tells them.
    """
    with default_dtype(torch.float32), _Unfilled():
        model = built(asked)
    model = model.eval().float()
    image = as_given(asked.image, torch.float32)
    drawn, held = _drawn(model, asked.seed)
    trace = recorded_shapes(lambda: record(model, image.clone(), dtype=torch.float32, keep_cells=False))
    try:
        with torch.no_grad(), default_dtype(torch.float32):
            begin_pass(0)
            found = tuple(carried(one) for _, one in results_in(model(image.clone())).tensors)
            made = _computed(model, image) if _computes_weights(trace.records) else {}
    except (Exception, SystemExit) as raised:
        return Wide(trace, (), drawn, {}, {}, failure_in_bounds(raised))
    return Wide(trace, found, drawn, held, made, None)


def _computes_weights(records: Sequence[TensorRow]) -> bool:
    """Does the image meet anything that is computed from parameters, and is none itself?"""
    return any(
        where.kind == "record" and not records[where.number].image
        for one in records
        if one.image
        for where in one.inputs
    )


def _computed(model: nn.Module, image: Tensor) -> dict[int, Tensor]:
    """By the number of its record, the memory of each tensor that does not depend on the image."""
    tracer = Tracer(model, image)
    with sdpa_kernel(SDPBackend.MATH), tracer:  # as where the stages are located
        begin_pass(0)
        model(image)
    return {
        number: one.cells.float()
        for number, one in enumerate(tracer.records)
        if not one.image and one.cells is not None
    }


@torch.no_grad()
def _drawn(model: nn.Module, seed: int) -> tuple[dict[str, Pooled], dict[str, Tensor]]:
    """Gives each parameter its values; those of a table that is no parameter stay, and are sent."""
    drawn: dict[str, Pooled] = {}
    held: dict[str, Tensor] = {}
    for name, tensor in floating(named_tensors(model)):
        if is_drawn(tensor):
            drawn[name] = Pooled(*spread_and_centre(tensor))
            tensor.copy_(drawn[name].values(name, tensor.shape, seed))
        else:
            held[name] = tensor.detach().float().contiguous()
    return drawn, held
