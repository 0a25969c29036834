"""Child side: one pass recorded, as an answer."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from ...errors import StudentCodeFailed
from ...questions.recording import Cure, Failed, Recorded, RecordPass, TensorRow, VisibleLocal
from ..child import failure_in_bounds, failure_of
from ..dtypes import default_dtype
from ..scripts.scripts import Script
from ..tracing.failing import failed_call
from ..tracing.mark_watcher import Watcher
from ..tracing.results import Results, computed, results_in
from ..tracing.tracing import Storage, Tracer
from .plain import begin_pass


def record(
    model: nn.Module,
    image: Tensor,
    *,
    marks: Sequence[tuple[str, int]] = (),
    dtype: torch.dtype = torch.float64,
    keep_cells: bool = True,
    cures: Sequence[Cure] = (),
) -> Recorded:
    error: StudentCodeFailed | None = None
    results = Results([], [])
    tracer = Tracer(model, image, keep_cells, cures)
    watcher = Watcher(marks, tracer.reference)
    try:
        # the mathematical path takes the fused kernel apart, so that scores and probabilities exist
        with default_dtype(dtype), sdpa_kernel(SDPBackend.MATH), watcher, tracer:
            begin_pass(0)
            result = model(image)
        results = results_in(result)
        del result
    except (Exception, SystemExit) as raised:
        error = failure_in_bounds(raised)
    if error is None:
        return recorded(tracer, watcher.sights, results)
    again = Tracer(model, image, keep_cells)
    with default_dtype(dtype), sdpa_kernel(SDPBackend.MATH):
        failed = failed_call(lambda: computed(model(image)), again)
    return recorded(tracer if failed is None else again, watcher.sights, results, error, failed)


def script_trace(script: Script, asked: RecordPass) -> Recorded:
    ran = script.run(asked.sizes, asked.seed, asked.image, asked.fixed, asked.marks)
    error = None if ran.error is None else failure_of(ran.error[1])
    answer = recorded(ran.tracer, ran.sights, Results([], []), error)
    ran.forget()
    return answer


def recorded(
    tracer: Tracer,
    sights: Sequence[VisibleLocal],
    results: Results,
    error: StudentCodeFailed | None = None,
    failed: Failed | None = None,
) -> Recorded:
    # of what was made out of the tracer's sight, too: it must not be mistaken for nothing
    returned = tuple((path, tracer.refer(tensor)) for path, tensor in results.tensors)
    results.tensors.clear()  # with the graph behind them: what follows may take as much memory again
    return Recorded(
        signature=hashlib.sha256(" ".join(one.op for one in tracer.records).encode()).hexdigest()[:16],
        records=tuple(_row(one) for one in tracer.records),
        leaves=tuple(_row(one) for one in tracer.leaves),
        outputs=returned,
        sights=tuple(sights),
        left_out=tuple(results.left_out),
        error=error,
        failed=failed,
        unread=tracer.unread,
        unused_views=tracer.unused_views,
        cells=tracer.take_cells(),
    )


def _row(one: Storage) -> TensorRow:
    return TensorRow(**{name: value for name, value in vars(one).items() if name != "cells"})
