"""Child side: one plain pass in float32 at sizes at which models are really used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from ...questions.pooled import Pooled
from ...questions.randomise import floating, is_drawn, named_tensors, spread_and_centre
from ..building.probing import as_given
from ..child import describe_error, is_out_of_memory
from ..replies import Header, Reply, Tensors
from ..subject import built, default_dtype, sizes_in
from ..tracing.modes import Mode
from ..tracing.results import carried, results_in
from ..tracing.shapes_alone import FILLED, recorded_shapes
from ..tracing.tracing import Tracer
from .plain import begin_pass
from .recording import record

_MANY = 1 << 16  # numbers; fewer are drawn as the code says


class _Unfilled(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Inside it, large tensors are not filled with random initial values, which are replaced anyway."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if func in FILLED and args[0].numel() > _MANY:
            return args[0] if isinstance(args[0], nn.Parameter) else args[0].zero_()
        return func(*args, **(kwargs or {}))


def wide_pass(header: Header, tensors: Tensors) -> Reply:
    """The shapes of a recorded pass, the scores of a plain one, and all numbers that the model holds.

    Those of a parameter are told as the way in which they were drawn. Where the code computes weights from
    others, one more pass tells them.
    """
    with default_dtype(torch.float32), _Unfilled():
        model = built(sizes_in(header), header)
    model = model.eval().float()
    image = as_given(tensors["image"], torch.float32)
    reply: Header = {"drawn": {}, "outputs": 0, "error": None}
    out = _drawn(model, int(header["seed"]), reply["drawn"])
    reply["trace"], _ = recorded_shapes(
        lambda: record(model, image.clone(), {"marks": [], "dtype": "float32"}, keep_cells=False)
    )
    try:
        with torch.no_grad(), default_dtype(torch.float32):
            begin_pass(0)
            found = [one for _, one in results_in(model(image.clone())).tensors]
            out |= _computed(model, image) if _computes_weights(reply["trace"]["records"]) else {}
    except (Exception, SystemExit) as raised:
        if is_out_of_memory(raised):
            raise
        return reply | {"error": describe_error(raised)}, {}
    out |= {f"out.{number}": carried(one) for number, one in enumerate(found)}
    return reply | {"outputs": len(found)}, out


def _computes_weights(records: Sequence[Header]) -> bool:
    """Does the image meet anything that is computed from parameters, and is none itself?"""
    return any(
        kind == "record" and not records[number]["image"]
        for one in records
        if one["image"]
        for kind, number, *_ in one["inputs"]
    )


def _computed(model: nn.Module, image: Tensor) -> Tensors:
    """By the number of its record, the memory of each tensor that does not depend on the image."""
    tracer = Tracer(model, image)
    with sdpa_kernel(SDPBackend.MATH), tracer:  # as where the stages are located
        begin_pass(0)
        model(image)
    return {
        f"made:{number}": one.cells.float()
        for number, one in enumerate(tracer.records)
        if not one.image and one.cells is not None
    }


@torch.no_grad()
def _drawn(model: nn.Module, seed: int, drawn: Header) -> Tensors:
    """Gives each parameter its values; those of a table that is no parameter stay, and are sent."""
    held: Tensors = {}
    for name, tensor in floating(named_tensors(model)):
        if is_drawn(tensor):
            pooled = Pooled(*spread_and_centre(tensor))
            tensor.copy_(pooled.values(name, tensor.shape, seed))
            drawn[name] = list(pooled)
        else:
            held[f"held:{name}"] = tensor.detach().float().contiguous()
    return held
