"""Traces of the corpus, made in this process: as the child makes them, without its sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch
from corpus import BASES, load_source
from mutants import Mutant, Pair, Refactoring, source
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.child import failure_of
from vitcheck.submissions.child.passes import recorded_passes as recording
from vitcheck.submissions.child.tracing.failing import failed_call
from vitcheck.submissions.child.tracing.mark_watcher import Watcher
from vitcheck.submissions.child.tracing.results import Results, results_in
from vitcheck.submissions.child.tracing.tracing import Tracer
from vitcheck.submissions.host.decoding import decode
from vitcheck.submissions.host.trace import Trace
from vitcheck.submissions.questions.randomise import randomise
from vitcheck.submissions.questions.recording import Cure

SQUARE = Sizes(
    batch=2,
    channels=3,
    height=12,
    width=12,
    patch=4,
    embed_dim=24,
    heads=3,
    mlp_dim=96,
    depth=3,
    classes=7,
)
RECTANGULAR = Sizes(**{**vars(SQUARE), "height": 8})


def sizes_of(base: str) -> Sizes:
    """Sizes at which few mistakes hide and that this base can be built with."""
    return RECTANGULAR if BASES[base].rectangular else SQUARE


@cache
def trace_of(base: str, sizes: Sizes | None = None, seed: int = 0) -> Trace:
    """One pass of a base, with random parameters."""
    return trace_source(BASES[base].source(), base, sizes or sizes_of(base), seed)


def trace_changed(changed: Mutant | Pair | Refactoring) -> Trace:
    """One pass of a base with the edits made."""
    return trace_source(source(changed), changed.base, sizes_of(changed.base))


def trace_source(text: str, base: str, sizes: Sizes, seed: int = 0) -> Trace:
    """One pass of ``text``, built as ``base`` is. An error in the pass is in the trace."""
    torch.set_default_dtype(torch.float64)
    try:
        model = BASES[base].build(load_source(text, base), sizes).eval().double()
        randomise(model, seed, {})
        shape = (sizes.batch, sizes.channels, sizes.height, sizes.width)
        return trace_model(model, torch.randn(shape, generator=torch.Generator().manual_seed(seed + 5)))
    finally:
        torch.set_default_dtype(torch.float32)


def trace_model(model: nn.Module, image: Tensor, cures: Sequence[Cure] = ()) -> Trace:
    """One pass of ``model``, as a trace."""
    tracer = Tracer(model, image, cures=cures)
    watcher = Watcher([], tracer.reference)
    results = Results([], [])
    error = None
    try:
        with sdpa_kernel(SDPBackend.MATH), watcher, tracer:
            result = model(image)
        results = results_in(result)
    except Exception as raised:  # as for a student's: what ran before it is still a trace
        error = failure_of(raised)
    if error is None:
        return decode(recording.recorded(tracer, watcher.sights, results))
    again = Tracer(model, image)
    with sdpa_kernel(SDPBackend.MATH):
        failed = failed_call(lambda: model(image), again)
    return decode(recording.recorded(again, watcher.sights, results, error, failed))
