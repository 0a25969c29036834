"""Child side: what answers each question that the parent may ask."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import torch

from ...reference.components import COMPONENTS
from ..questions.building import CountParameters, FitSizes, TakeOwnSizes, TryOwnPass
from ..questions.changes import TryChanges, WatchNames
from ..questions.habits import Habit, WatchHabits
from ..questions.inventory import Inventory, TakeInventory
from ..questions.loading import Infer, Load, Replace, Skipped
from ..questions.own_functions import CallOwnFunctions, OwnFunctions
from ..questions.plain_passes import Passes, RunPasses
from ..questions.randomise import seed_random_state
from ..questions.recording import Recorded, RecordPass
from ..questions.uses import MeasureSlopes, RunWide, TryUses
from ..reading.code import STUDENT_PREFIX, module_file
from . import part_requests
from .answering import answered_by
from .building.own_pass import own_pass
from .building.own_sizes import own_sizes
from .building.probing import as_given
from .dtypes import default_dtype
from .inferring import infer_submission
from .loading.definitions import Definitions
from .loading.execution import load
from .passes.applied_functions import initialised
from .passes.changed_passes import changed_passes, watched_names
from .passes.habit_passes import habits
from .passes.model_inventory import inventory
from .passes.plain import plain_passes
from .passes.recorded_passes import record, script_trace
from .passes.slopes import slopes
from .passes.use_passes import uses
from .passes.wide import wide_pass
from .pictures.picture_calls import own_functions
from .scripts.script_finding import likeliest
from .scripts.scripts import Script
from .subject import DTYPES, Submission, built, model_of, shortening_for, subject_of
from .tracing.shapes_alone import recorded_shapes
from .uncompiled import ignore_compiler, keep_activations


def _contents(files: Mapping[str, torch.Tensor]) -> dict[str, bytes]:
    return {name: content.numpy().tobytes() for name, content in files.items()}


def _load(asked: Load) -> tuple[Skipped, ...]:
    files = _contents(asked.files)
    _lay_out(files)
    loaded = Submission.loaded = load(files, asked.passed_on)
    # functions alone may be all that is asked for; where a model is, its inference says the same
    if loaded.error is not None and not Definitions(loaded).all and not likeliest(loaded):
        raise loaded.error
    return tuple(loaded.skipped)


def _replace(asked: Replace) -> None:
    loaded = Submission.loaded = load(_contents(asked.files))
    if loaded.error is not None:
        raise loaded.error
    Submission.recipe = Submission.recipe.of(loaded)


def _lay_out(files: Mapping[str, bytes]) -> None:
    """Puts the files into the scratch folder, where code looks for its data, also beside ``__file__``."""
    with suppress(OSError):  # it is there already
        Path(STUDENT_PREFIX).symlink_to(".")
    for name, content in files.items():
        if module_file(name) is None:
            with suppress(OSError, ValueError):  # of a name that cannot be had here, or where no room is left
                path = Path(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _sizes(asked: FitSizes) -> tuple[Mapping[str, int], ...]:
    subject, shorter = subject_of(asked), shortening_for(asked)
    rows = []
    for wanted in asked.wanted:
        found = subject.sizes_for(wanted)
        if shorter is not None:
            found = replace(found, depth=min(found.depth, shorter.depth(wanted.depth)))
        rows.append(asdict(found))
    return tuple(rows)


def _parameters(asked: CountParameters) -> int:
    return sum(one.numel() for one in built(asked).parameters() if one.requires_grad)


def _own_sizes(asked: TakeOwnSizes) -> Mapping[str, int]:
    return own_sizes(Submission.recipe, asked.sizes)


def _own_pass(asked: TryOwnPass) -> bool:
    return own_pass(Submission.recipe, asked.sizes)


def _trace(asked: RecordPass) -> Recorded:
    subject = subject_of(asked)
    if isinstance(subject, Script):
        return script_trace(subject, asked)
    if asked.image is None:
        return recorded_shapes(lambda: _real_shapes(asked))
    model = model_of(asked, drawn=asked.drawn, fixed=asked.fixed)
    return record(model, as_given(asked.image, torch.float64), marks=asked.marks, cures=asked.cures)


def _real_shapes(asked: RecordPass) -> Recorded:
    row = COMPONENTS[asked.component[0]] if asked.component else None
    given = torch.rand(row.input_shape(asked.sizes)) if row else asked.sizes.input(0)
    # not on the meta device: code may look at numbers, and for that device torch imports its compiler
    model = built(asked).eval().float()  # a default argument that is a module was made float64 before
    image = as_given(given, torch.float32)
    return record(model, image, marks=asked.marks, dtype=torch.float32, keep_cells=False)


def _forward(asked: RunPasses) -> Passes:
    dtype = DTYPES[asked.dtype]
    given, modes = zip(*asked.each)
    model = model_of(asked, dtype=dtype, mode=modes[0], wider=asked.wider)
    layout = torch.channels_last if asked.channels_last else torch.contiguous_format
    images = [as_given(one, dtype).contiguous(memory_format=layout) for one in given]
    with default_dtype(dtype):
        return plain_passes(model, images, modes, asked.backward, asked.switches, asked.begun)


def _habits(asked: WatchHabits) -> tuple[Habit, ...]:
    model = model_of(asked)
    with default_dtype(torch.float64):
        return habits(model, asked.image.clone())


def _inventory(asked: TakeInventory) -> Inventory:
    seed_random_state(asked.seed)
    return inventory(lambda: initialised(built(asked), Submission.loaded))


def _own_functions(asked: CallOwnFunctions) -> OwnFunctions:
    return own_functions(Submission.loaded, asked.side, asked.classes)


HANDLERS = {
    **part_requests.HANDLERS,
    **answered_by(Load, _load),
    **answered_by(Infer, infer_submission),
    **answered_by(Replace, _replace),
    **answered_by(FitSizes, _sizes),
    **answered_by(CountParameters, _parameters),
    **answered_by(TakeOwnSizes, _own_sizes),
    **answered_by(TryOwnPass, _own_pass),
    **answered_by(RecordPass, _trace),
    **answered_by(RunPasses, _forward),
    **answered_by(WatchHabits, _habits),
    **answered_by(TakeInventory, _inventory),
    **answered_by(CallOwnFunctions, _own_functions),
    **answered_by(TryUses, uses),
    **answered_by(MeasureSlopes, slopes),
    **answered_by(RunWide, wide_pass),
    **answered_by(TryChanges, changed_passes),
    **answered_by(WatchNames, watched_names),
}

ignore_compiler()
keep_activations()
sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))  # hooks and dispatch deepen the student's stack
