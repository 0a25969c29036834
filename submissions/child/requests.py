"""Child side: the few things that the parent may ask for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

from ...reference.components import COMPONENTS
from ...reference.model_sizes import described
from ..errors import NotLoaded
from ..questions.pins import Pins
from ..questions.randomise import seed_random_state
from ..reading.code import module_file
from . import part_requests
from .building.probing import as_given
from .building.recipe import Recipe, infer
from .building.shortening import BLOCKS, shorten
from .child import describe_failure
from .loading.definitions import Definitions
from .loading.loading import load
from .passes.habits import habits
from .passes.inventory import inventory
from .passes.plain import plain_passes
from .passes.preparing import prepared
from .passes.recording import record, script_trace
from .passes.slopes import slopes
from .passes.uses import uses
from .passes.wide import wide_pass
from .replies import Header, Reply, Tensors
from .scripts.script_finding import find_script, has_classes, likeliest
from .scripts.scripts import Script
from .subject import DTYPES, Submission, built, default_dtype, model_of, sizes_in, subject_of
from .tracing.shapes_alone import recorded_shapes
from .uncompiled import ignore_compiler


def _load(header: Header, tensors: Tensors) -> Reply:
    """Executes the submission's files."""
    files = {name: tensors[key].numpy().tobytes() for name, key in header["files"].items()}
    _lay_out(files)
    loaded = Submission.loaded = load(files)
    # functions alone may be all that is asked for; where a model is, its inference says the same
    failure = None if Definitions(loaded).all or likeliest(loaded) else loaded.error
    return {"skipped": [asdict(one) for one in loaded.skipped], "failure": describe_failure(failure)}, {}


def _infer(header: Header, tensors: Tensors) -> Reply:
    """Finds the model and how to build it, by trying; else runs the files as a script."""
    loaded = Submission.loaded
    pinned = header["model"] is not None
    if header.get("described") is not None:
        Submission.small = described(header["described"])
        return _infer_without_scripts(header)
    try:
        file = None if pinned else find_script(loaded)
        if file is not None:
            with suppress(NotLoaded):  # the marks may stand where nothing is computed
                Submission.script = Script(loaded, file)
                return _describe_script(Submission.script), {}
        return _infermodel_of(header)
    except NotLoaded as error:
        file = None if pinned else likeliest(loaded)
        return ({"failure": describe_failure(error)}, {}) if file is None else _infer_script(file, error)


def _infer_without_scripts(header: Header) -> Reply:
    """A script is lent an image, so that only what reads images can be one."""
    try:
        return _infermodel_of(header)
    except NotLoaded as error:
        return {"failure": describe_failure(error)}, {}


def _infermodel_of(header: Header) -> Reply:
    if Submission.loaded.error is not None:
        raise Submission.loaded.error
    Submission.recipe = infer(Submission.loaded, Pins(header["model"], header["arguments"]), Submission.small)
    Submission.shortens = _runs_shorter()
    return {"recipe": Submission.recipe.describe(), "failure": None}, {}


def _infer_script(file: str, no_model: NotLoaded) -> Reply:
    """Where no model can be built. What stood in its way is said if nothing comes of a script either."""
    try:
        script = Submission.script = Script(Submission.loaded, file)
    except Exception as error:  # what scripts need is imported here, and may not fit where the model did not
        failure = no_model if has_classes(Submission.loaded) else error
        if not isinstance(failure, NotLoaded):
            raise
        return {"failure": describe_failure(failure)}, {}
    return _describe_script(script), {}


def _describe_script(script: Script) -> Header:
    skipped = [asdict(one) for one in script.skipped]
    return {"recipe": {"notes": script.notes()}, "script": True, "skipped": skipped, "failure": None}


def _lay_out(files: Mapping[str, bytes]) -> None:
    """Puts the files into the scratch folder, where code looks for its data by relative paths."""
    for name, content in files.items():
        if module_file(name) is None:
            with suppress(OSError, ValueError):  # of a name that cannot be had here, or where no room is left
                path = Path(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _runs_shorter() -> bool:
    recipe = Submission.recipe
    if "depth" in recipe.controls.fields:
        return False
    sizes = recipe.sizes_for(replace(Submission.small, batch=1))
    try:
        model = recipe.build(sizes).eval()
        if not shorten(model, BLOCKS):
            return False
        with torch.no_grad():
            model(as_given(sizes.input(0), torch.float32))
    except Exception:  # it names a block that is left out, say
        return False
    return True


def _sizes(header: Header, tensors: Tensors) -> Reply:
    """The nearest sizes that the model can really be built at, to each that is wanted."""
    subject = subject_of(header)
    shortens = isinstance(subject, Recipe) and Submission.shortens and not header.get("whole")
    rows = []
    for sizes in header["wanted"]:
        wanted: Any = type(Submission.small)(**sizes)  # of parts and scripts, those of a ViT
        found = subject.sizes_for(wanted)
        if shortens:
            found = replace(found, depth=min(found.depth, max(wanted.depth, BLOCKS)))
        rows.append(asdict(found))
    return {"sizes": rows}, {}


def _parameters(header: Header, tensors: Tensors) -> Reply:
    """How many trainable numbers a model or component has."""
    module = built(sizes_in(header), header)
    return {"count": sum(one.numel() for one in module.parameters() if one.requires_grad)}, {}


def _trace(header: Header, tensors: Tensors) -> Reply:
    """One forward pass, recorded; without an image, the shapes of one."""
    subject = subject_of(header)
    if isinstance(subject, Script):
        return script_trace(subject, header, tensors)
    if "image" in tensors:
        image = as_given(tensors["image"], DTYPES[header["dtype"]])
        return record(model_of(header, tensors), image, header, keep_cells=True)
    return recorded_shapes(lambda: _real_shapes(header))


def _real_shapes(header: Header) -> Reply:
    sizes = sizes_in(header)
    key = header["component"][0] if "component" in header else None
    given = torch.rand(COMPONENTS[key].input_shape(sizes)) if key else sizes.input(0)
    image = as_given(given, torch.float32)
    # not on the meta device: code may look at numbers, and for that device torch imports its compiler
    model = built(sizes, header).eval().float()  # a default argument that is a module was made float64 before
    return record(model, image, {**header, "dtype": "float32"}, keep_cells=False)


def _forward(header: Header, tensors: Tensors) -> Reply:
    """Plain passes over ``images`` in turn on one model, and what they left behind."""
    dtype = DTYPES[header["dtype"]]
    model = model_of(header, tensors)
    layout = torch.channels_last if header["channels_last"] else torch.contiguous_format
    images = [as_given(tensors[name], dtype) for name in header["images"]]
    images = [one.contiguous(memory_format=layout) for one in images]
    with default_dtype(dtype):
        return plain_passes(model, images, header["modes"], header["backward"], header["switches"])


def _habits(header: Header, tensors: Tensors) -> Reply:
    """One pass in eval mode, watched call by call."""
    model = model_of({**header, "dtype": "float64", "mode": "eval"}, tensors)
    with default_dtype(torch.float64):
        return habits(model, tensors["image"].clone()), {}


def _inventory(header: Header, tensors: Tensors) -> Reply:
    """What a fresh model holds."""
    seed_random_state(int(header["seed"]))
    return inventory(lambda: built(sizes_in(header), header)), {}


def _prepare(header: Header, tensors: Tensors) -> Reply:
    """The student's own way from a picture to the model's input."""
    return prepared(Submission.loaded, int(header["side"]))


HANDLERS = {
    **part_requests.HANDLERS,
    "load": _load,
    "infer": _infer,
    "sizes": _sizes,
    "parameters": _parameters,
    "trace": _trace,
    "forward": _forward,
    "habits": _habits,
    "inventory": _inventory,
    "prepare": _prepare,
    "uses": uses,
    "slopes": slopes,
    "wide": wide_pass,
}

ignore_compiler()
sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))  # hooks and dispatch deepen the student's stack
