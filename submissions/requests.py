"""Child side: the few things that the parent may ask for."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..reference.sizes import Sizes
from .child import describe_error, is_out_of_memory
from .code import module_file
from .errors import NotLoaded
from .loading import Loaded, load
from .plain import plain_passes, tensors_in
from .randomise import named_tensors, randomise
from .recipe import Pins, Recipe, infer
from .script_finding import find_script, has_classes, likeliest
from .scripts import Script
from .shortening import shorten
from .sights import Watcher
from .tracing import Storage, Tracer

Header = dict[str, Any]
Tensors = dict[str, Tensor]
Reply = tuple[Header, Tensors]

_BLOCKS = 3  # "every block reads the first input" shows at three, and no sooner
_DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


class _Submission:
    """What has been loaded: one submission a process."""

    loaded: Loaded
    recipe: Recipe
    script: Script | None = None  # where there is no model class to build, or it is not what is shown
    shortens: bool  # can blocks be left out, where the code fixes their number?


def _load(header: Header, tensors: Tensors) -> Reply:
    """Executes the submission's files."""
    files = {name: tensors[key].numpy().tobytes() for name, key in header["files"].items()}
    _lay_out(files)
    loaded = _Submission.loaded = load(files)
    error = None if likeliest(loaded) else loaded.error
    return {"skipped": [asdict(one) for one in loaded.skipped], "failure": _failure(error)}, {}


def _infer(header: Header, tensors: Tensors) -> Reply:
    """Finds the model and how to build it, by trying; else runs the files as a script."""
    loaded = _Submission.loaded
    pinned = header["model"] is not None
    try:
        file = None if pinned else find_script(loaded)
        if file is None:
            return _infer_model(header)
        script = _Submission.script = Script(loaded, file)
        return _describe_script(script), {}
    except NotLoaded as error:
        file = None if pinned else likeliest(loaded)
        return ({"failure": _failure(error)}, {}) if file is None else _infer_script(file, error)


def _infer_model(header: Header) -> Reply:
    if _Submission.loaded.error is not None:
        raise _Submission.loaded.error
    _Submission.recipe = infer(_Submission.loaded, Pins(header["model"], header["arguments"]))
    _Submission.shortens = _runs_shorter()
    return {"recipe": _Submission.recipe.describe(), "failure": None}, {}


def _infer_script(file: str, no_model: NotLoaded) -> Reply:
    """Where no model can be built. What stood in its way is said if nothing comes of a script either."""
    try:
        script = _Submission.script = Script(_Submission.loaded, file)
    except NotLoaded as error:
        return {"failure": _failure(no_model if has_classes(_Submission.loaded) else error)}, {}
    return _describe_script(script), {}


def _describe_script(script: Script) -> Header:
    skipped = [asdict(one) for one in script.skipped]
    return {"recipe": {"notes": script.notes()}, "script": True, "skipped": skipped, "failure": None}


def _runs_shorter() -> bool:
    recipe = _Submission.recipe
    if "depth" in recipe.controls.fields:
        return False
    sizes = recipe.sizes_for(Sizes(batch=1))
    try:
        model = recipe.build(sizes).eval()
        if not shorten(model, _BLOCKS):
            return False
        with torch.no_grad():
            model(torch.zeros(1, sizes.channels, sizes.height, sizes.width))
    except Exception:  # it names a block that is left out, say
        return False
    return True


def _lay_out(files: Mapping[str, bytes]) -> None:
    """Puts the files into the scratch folder, where code looks for its data by relative paths."""
    for name, content in files.items():
        if module_file(name) is None:
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def _failure(error: NotLoaded | None) -> Header | None:
    if error is None:
        return None
    return {"reason": error.reason, "frame": error.frame and [error.frame.file, error.frame.line]}


def _sizes(header: Header, tensors: Tensors) -> Reply:
    """The nearest sizes that the model can really be built at."""
    wanted = Sizes(**header["sizes"])
    if _Submission.script is not None:
        return {"sizes": asdict(_Submission.script.sizes_for(wanted))}, {}
    found = _Submission.recipe.sizes_for(wanted)
    if _Submission.shortens:
        found = replace(found, depth=min(found.depth, max(wanted.depth, _BLOCKS)))
    return {"sizes": asdict(found)}, {}


def _built(sizes: Sizes) -> nn.Module:
    """A model at sizes that ``_sizes`` gave."""
    model = _Submission.recipe.build(_Submission.recipe.sizes_for(sizes))
    if _Submission.shortens:
        shorten(model, sizes.depth)
    return model


def _trace(header: Header, tensors: Tensors) -> Reply:
    """One forward pass, recorded; without an image, the shapes of one."""
    if _Submission.script is not None:
        return _trace_script(_Submission.script, header, tensors)
    if "image" in tensors:
        image = tensors["image"].to(_DTYPES[header["dtype"]], copy=True)
        return _record(_model(header, tensors), image, header, keep_cells=True)
    sizes = Sizes(**header["sizes"])
    image = torch.rand(sizes.batch, sizes.channels, sizes.height, sizes.width)
    # not on the meta device: code may look at numbers, and for that device torch imports its compiler
    return _record(_built(sizes).eval(), image, {**header, "dtype": "float32"}, keep_cells=False)


def _trace_script(script: Script, header: Header, tensors: Tensors) -> Reply:
    fixed = {name.removeprefix("set:"): one for name, one in tensors.items()}
    image = fixed.pop("image", None)
    ran = script.run(Sizes(**header["sizes"]), int(header["seed"]), image, fixed, header["marks"])
    error = None if ran.error is None else describe_error(ran.error[1])
    reply = _encode(ran.tracer, ran.sights, [], error)
    ran.forget()
    return reply


def _record(model: nn.Module, image: Tensor, header: Header, keep_cells: bool) -> Reply:
    error: Header | None = None
    outputs: list[tuple[str, Tensor]] = []
    tracer = Tracer(model, image, keep_cells)
    watcher = Watcher(header["marks"], tracer.reference)
    try:
        # the mathematical path takes the fused kernel apart, so that scores and probabilities exist
        with (
            _default_dtype(_DTYPES[header["dtype"]]),
            sdpa_kernel(SDPBackend.MATH),
            watcher,
            tracer,
        ):
            result = model(image)
        outputs = list(tensors_in(result))
    except (Exception, SystemExit) as raised:
        if is_out_of_memory(raised):
            raise
        error = describe_error(raised)
    return _encode(tracer, watcher.sights, outputs, error)


def _model(header: Header, tensors: Tensors) -> nn.Module:
    dtype = _DTYPES[header["dtype"]]
    with _default_dtype(dtype):
        model = _built(Sizes(**header["sizes"])).train(header["mode"] == "train").to(dtype)
    for _, tensor, is_parameter in named_tensors(model):
        if tensor.is_floating_point() and not is_parameter and dtype == torch.float64:
            tensor.data = tensor.data.to(dtype)  # plain attributes too: they stop a float64 run otherwise
    randomise(model, int(header["seed"]), {name.removeprefix("set:"): one for name, one in tensors.items()})
    torch.manual_seed(int(header["seed"]))
    return model


@contextmanager
def _default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Constants that the student's code makes are float64 too; a bfloat16 model lives in a float32 world."""
    torch.set_default_dtype(torch.float32 if dtype == torch.bfloat16 else dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def _encode(
    tracer: Tracer, sights: list[list[Any]], outputs: list[tuple[str, Tensor]], error: Header | None
) -> Reply:
    cells = [one.cells for one in tracer.records + tracer.leaves if one.cells is not None]
    signature = hashlib.sha256(" ".join(one.op for one in tracer.records).encode()).hexdigest()[:16]
    references = [(path, tracer.reference(tensor)) for path, tensor in outputs]
    header = {
        "signature": signature,
        "records": [_row(one) for one in tracer.records],
        "leaves": [_row(one) for one in tracer.leaves],
        "outputs": [[path, where] for path, where in references if where is not None],
        "sights": sights,
        "error": error,
    }
    return header, {"cells": torch.cat(cells)} if cells else {}


def _row(one: Storage) -> Header:
    return {name: value for name, value in vars(one).items() if name != "cells"}


def _forward(header: Header, tensors: Tensors) -> Reply:
    """Plain passes over ``images`` in turn on one model, and what they left behind."""
    dtype = _DTYPES[header["dtype"]]
    model = _model(header, tensors)
    images = [tensors[name].to(dtype, copy=True) for name in header["images"]]
    with _default_dtype(dtype):
        return plain_passes(model, images, header["backward"])


HANDLERS = {"load": _load, "infer": _infer, "sizes": _sizes, "trace": _trace, "forward": _forward}

sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))  # hooks and dispatch deepen the student's stack
