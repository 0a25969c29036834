"""Child side: the few things that the parent may ask for."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
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
from .habits import habits
from .inventory import inventory
from .loading import Loaded, load
from .plain import plain_passes, tensors_in
from .preparing import prepared
from .randomise import named_tensors, randomise
from .recipe import Pins, Recipe, infer
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
    shortens: bool  # can blocks be left out, where the code fixes their number?


def _load(header: Header, tensors: Tensors) -> Reply:
    """Executes the submission's files."""
    files = {name: tensors[key].numpy().tobytes() for name, key in header["files"].items()}
    _lay_out(files)
    loaded = _Submission.loaded = load(files)
    return {"skipped": [asdict(one) for one in loaded.skipped], "failure": _failure(loaded.error)}, {}


def _infer(header: Header, tensors: Tensors) -> Reply:
    """Finds the model and how to build it, by trying."""
    try:
        _Submission.recipe = infer(_Submission.loaded, Pins(header["model"], header["arguments"]))
    except NotLoaded as error:
        return {"recipe": None, "failure": _failure(error)}, {}
    _Submission.shortens = _runs_shorter()
    return {"recipe": _Submission.recipe.describe(), "failure": None}, {}


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


def _widened(sizes: Sizes, wider: int) -> Sizes:
    """Sizes that Sizes itself refuses, since the heads do not divide the width."""
    found = copy(sizes)
    object.__setattr__(found, "embed_dim", sizes.embed_dim + wider)
    return found


def _trace(header: Header, tensors: Tensors) -> Reply:
    """One forward pass, recorded; without an image, the shapes of one."""
    if "image" in tensors:
        image = tensors["image"].to(_DTYPES[header["dtype"]], copy=True)
        return _record(_model(header, tensors), image, header, keep_cells=True)
    sizes = Sizes(**header["sizes"])
    image = torch.rand(sizes.batch, sizes.channels, sizes.height, sizes.width)
    # not on the meta device: code may look at numbers, and for that device torch imports its compiler
    return _record(_built(sizes).eval(), image, {**header, "dtype": "float32"}, keep_cells=False)


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
    return _encode(tracer, watcher, outputs, error)


def _model(header: Header, tensors: Tensors) -> nn.Module:
    dtype = _DTYPES[header["dtype"]]
    sizes, wider = Sizes(**header["sizes"]), int(header.get("wider", 0))
    with _default_dtype(dtype):
        model = _Submission.recipe.build(_widened(sizes, wider)) if wider else _built(sizes)
        model.train(header["mode"] == "train").to(dtype)
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
    tracer: Tracer, watcher: Watcher, outputs: list[tuple[str, Tensor]], error: Header | None
) -> Reply:
    cells = [one.cells for one in tracer.records + tracer.leaves if one.cells is not None]
    signature = hashlib.sha256(" ".join(one.op for one in tracer.records).encode()).hexdigest()[:16]
    references = [(path, tracer.reference(tensor)) for path, tensor in outputs]
    header = {
        "signature": signature,
        "records": [_row(one) for one in tracer.records],
        "leaves": [_row(one) for one in tracer.leaves],
        "outputs": [[path, where] for path, where in references if where is not None],
        "sights": watcher.sights,
        "error": error,
    }
    return header, {"cells": torch.cat(cells)} if cells else {}


def _row(one: Storage) -> Header:
    return {name: value for name, value in vars(one).items() if name != "cells"}


def _forward(header: Header, tensors: Tensors) -> Reply:
    """Plain passes over ``images`` in turn on one model, and what they left behind."""
    dtype = _DTYPES[header["dtype"]]
    model = _model(header, tensors)
    layout = torch.channels_last if header["channels_last"] else torch.contiguous_format
    images = [tensors[name].to(dtype, copy=True, memory_format=layout) for name in header["images"]]
    with _default_dtype(dtype):
        return plain_passes(model, images, header["modes"], header["backward"])


def _habits(header: Header, tensors: Tensors) -> Reply:
    """One pass in eval mode, watched call by call."""
    model = _model({**header, "dtype": "float64", "mode": "eval"}, tensors)
    with _default_dtype(torch.float64):
        return habits(model, tensors["image"].clone()), {}


def _inventory(header: Header, tensors: Tensors) -> Reply:
    """What a fresh model holds."""
    torch.manual_seed(int(header["seed"]))
    return inventory(lambda: _built(Sizes(**header["sizes"]))), {}


def _prepare(header: Header, tensors: Tensors) -> Reply:
    """The student's own way from a picture to the model's input."""
    return prepared(_Submission.loaded, int(header["side"]))


HANDLERS = {
    "load": _load,
    "infer": _infer,
    "sizes": _sizes,
    "trace": _trace,
    "forward": _forward,
    "habits": _habits,
    "inventory": _inventory,
    "prepare": _prepare,
}

sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))  # hooks and dispatch deepen the student's stack
