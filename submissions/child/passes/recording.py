"""Child side: one pass recorded, as a reply."""

from __future__ import annotations

import hashlib
from typing import Any

from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from ....reference.sizes import Sizes
from ..child import describe_error, is_out_of_memory
from ..replies import Header, Reply, Tensors
from ..scripts.scripts import Script
from ..subject import DTYPES, default_dtype
from ..tracing.failing import failed_call
from ..tracing.results import Results, computed, results_in
from ..tracing.sights import Watcher
from ..tracing.tracing import Storage, Tracer
from .plain import begin_pass


def record(model: nn.Module, image: Tensor, header: Header, keep_cells: bool) -> Reply:
    error: Header | None = None
    results = Results([], [])
    tracer = Tracer(model, image, keep_cells)
    watcher = Watcher(header["marks"], tracer.reference)
    try:
        # the mathematical path takes the fused kernel apart, so that scores and probabilities exist
        with (
            default_dtype(DTYPES[header["dtype"]]),
            sdpa_kernel(SDPBackend.MATH),
            watcher,
            tracer,
        ):
            begin_pass(0)
            result = model(image)
        results = results_in(result)
        del result
    except (Exception, SystemExit) as raised:
        if is_out_of_memory(raised):
            raise
        error = describe_error(raised)
    if error is None:
        return encode(tracer, watcher.sights, results)
    again = Tracer(model, image, keep_cells)
    with default_dtype(DTYPES[header["dtype"]]), sdpa_kernel(SDPBackend.MATH):
        failed = failed_call(lambda: computed(model(image)), again)
    return encode(tracer if failed is None else again, watcher.sights, results, error, failed)


def script_trace(script: Script, header: Header, tensors: Tensors) -> Reply:
    fixed = {name.removeprefix("set:"): one for name, one in tensors.items()}
    image = fixed.pop("image", None)
    ran = script.run(Sizes(**header["sizes"]), int(header["seed"]), image, fixed, header["marks"])
    error = None if ran.error is None else describe_error(ran.error[1])
    reply = encode(ran.tracer, ran.sights, Results([], []), error)
    ran.forget()
    return reply


def encode(
    tracer: Tracer,
    sights: list[list[Any]],
    results: Results,
    error: Header | None = None,
    failed: Header | None = None,
) -> Reply:
    # of what was made out of the tracer's sight, too: it must not be mistaken for nothing
    returned = [[path, tracer.refer(tensor)] for path, tensor in results.tensors]
    results.tensors.clear()  # with the graph behind them: what follows may take as much memory again
    signature = hashlib.sha256(" ".join(one.op for one in tracer.records).encode()).hexdigest()[:16]
    header = {
        "signature": signature,
        "records": [_row(one) for one in tracer.records],
        "leaves": [_row(one) for one in tracer.leaves],
        "outputs": returned,
        "left_out": results.left_out,
        "sights": sights,
        "error": error,
        "failed": failed,
    }
    cells = tracer.take_cells()
    return header, {} if cells is None else {"cells": cells}


def _row(one: Storage) -> Header:
    return {name: value for name, value in vars(one).items() if name != "cells"}
