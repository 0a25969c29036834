"""Child side: the few things that the parent may ask for."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..reference.components import COMPONENTS
from ..reference.sizes import Sizes
from .calling import call, functions
from .child import describe_error, is_out_of_memory
from .code import module_file
from .components import Candidate, candidates
from .definitions import Definition, Definitions
from .errors import NotLoaded
from .failing import failed_call
from .habits import habits
from .inventory import inventory
from .loading import Loaded, load
from .plain import plain_passes, tensors_in
from .preparing import prepared
from .randomise import named_tensors, randomise
from .recipe import Pins, Recipe, infer
from .sample_models import SAMPLES, Sample
from .script_finding import find_script, has_classes, likeliest
from .scripts import Script
from .shortening import shorten
from .sights import Watcher
from .tracing import Storage, Tracer
from .uncompiled import ignore_compiler

Header = dict[str, Any]
Tensors = dict[str, Tensor]
Reply = tuple[Header, Tensors]

_BLOCKS = 3  # "every block reads the first input" shows at three, and no sooner
_DTYPES = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


class _Submission:
    """What has been loaded: one submission a process."""

    loaded: Loaded
    recipe: Recipe
    components: ClassVar[dict[str, list[Candidate]]] = {}
    functions: ClassVar[dict[str, list[Definition]]] = {}
    script: Script | None = None  # where there is no model class to build, or it is not what is shown
    shortens: bool  # can blocks be left out, where the code fixes their number?


def _load(header: Header, tensors: Tensors) -> Reply:
    """Executes the submission's files."""
    files = {name: tensors[key].numpy().tobytes() for name, key in header["files"].items()}
    _lay_out(files)
    loaded = _Submission.loaded = load(files)
    # functions alone may be all that is asked for; where a model is, its inference says the same
    failure = None if Definitions(loaded).all or likeliest(loaded) else loaded.error
    return {"skipped": [asdict(one) for one in loaded.skipped], "failure": _failure(failure)}, {}


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


def _components(header: Header, tensors: Tensors) -> Reply:
    """Finds what may be a component, by its name and by trying."""
    key = header["key"]
    try:
        found = _Submission.components[key] = candidates(_Submission.loaded, key, header["name"])
    except NotLoaded as error:
        return {"candidates": [], "failure": _failure(error)}, {}
    return {"candidates": [one.describe() for one in found], "failure": None}, {}


def _parameters(header: Header, tensors: Tensors) -> Reply:
    """How many trainable numbers a model or component has."""
    module = _built(Sizes(**header["sizes"]), header)
    return {"count": sum(one.numel() for one in module.parameters() if one.requires_grad)}, {}


def _functions(header: Header, tensors: Tensors) -> Reply:
    """Finds what may be an exercise, by its name."""
    key = header["key"]
    try:
        found = _Submission.functions[key] = functions(_Submission.loaded, key, header["name"])
    except NotLoaded as error:
        return {"functions": [], "failure": _failure(error)}, {}
    rows = [{"name": one.name, "file": one.file, "line": one.node.lineno} for one in found]
    return {"functions": rows, "failure": None}, {}


def _call(header: Header, tensors: Tensors) -> Reply:
    """One call of a function, with every role's choices."""
    key, number = header["function"]
    torch.manual_seed(int(header["seed"]))
    given = {role: [_given(one, header, tensors) for one in row] for role, row in header["given"].items()}
    try:
        with _default_dtype(torch.float64), sdpa_kernel(SDPBackend.MATH):
            found, roles = call(_Submission.functions[key][number], given)
    except NotLoaded as error:
        return {"failure": _failure(error), "error": None}, {}
    except (Exception, SystemExit) as raised:
        if is_out_of_memory(raised):
            raise
        return {"failure": None, "error": describe_error(raised)}, {}
    dtypes = [str(one.dtype).removeprefix("torch.") for one in found]
    out = {f"out.{n}": one.to(torch.float64).contiguous() for n, one in enumerate(found)}
    return {"failure": None, "error": None, "dtypes": dtypes, "roles": roles}, out


def _given(one: Any, header: Header, tensors: Tensors) -> object:
    """A number or text as it is, a list as a tuple, and what is named: tensors, or the model."""
    if isinstance(one, list):
        return tuple(one)
    if not isinstance(one, dict):
        return one
    if "model" in one:
        return _model({**header, **one["model"]}, {})
    return tensors[one["tensor"]] if "tensor" in one else [tensors[name] for name in one["tensors"]]


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
    subject = _subject(header)
    found = subject.sizes_for(wanted)
    if isinstance(subject, Recipe) and _Submission.shortens:
        found = replace(found, depth=min(found.depth, max(wanted.depth, _BLOCKS)))
    return {"sizes": asdict(found)}, {}


def _subject(header: Header) -> Recipe | Script | Candidate | Sample:
    """What is asked about: the model or script, a model of ours, or a candidate for a component."""
    if "sample" in header:
        return SAMPLES[str(header["sample"])]
    if "component" not in header:
        return _Submission.script or _Submission.recipe
    key, number = header["component"]
    found: Candidate = _Submission.components[key][number]
    return found


def _built(sizes: Sizes, header: Header) -> nn.Module:
    """A model or component at sizes that ``_sizes`` gave."""
    subject = _subject(header)
    assert not isinstance(subject, Script)  # which the parent knows, and asks for no model
    model = subject.build(subject.sizes_for(sizes))
    if isinstance(subject, Recipe) and _Submission.shortens:
        shorten(model, sizes.depth)
    return model


def _widened(sizes: Sizes, wider: int) -> Sizes:
    """Sizes that Sizes itself refuses, since the heads do not divide the width."""
    found = copy(sizes)
    object.__setattr__(found, "embed_dim", sizes.embed_dim + wider)
    return found


def _trace(header: Header, tensors: Tensors) -> Reply:
    """One forward pass, recorded; without an image, the shapes of one."""
    subject = _subject(header)
    if isinstance(subject, Script):
        return _trace_script(subject, header, tensors)
    if "image" in tensors:
        image = tensors["image"].to(_DTYPES[header["dtype"]], copy=True)
        return _record(_model(header, tensors), image, header, keep_cells=True)
    sizes = Sizes(**header["sizes"])
    key = header["component"][0] if "component" in header else None
    image = torch.rand(COMPONENTS[key].input_shape(sizes) if key else _image_shape(sizes))
    # not on the meta device: code may look at numbers, and for that device torch imports its compiler
    return _record(_built(sizes, header).eval(), image, {**header, "dtype": "float32"}, keep_cells=False)


def _image_shape(sizes: Sizes) -> tuple[int, ...]:
    return sizes.batch, sizes.channels, sizes.height, sizes.width


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
    if error is None:
        return _encode(tracer, watcher.sights, outputs)
    again = Tracer(model, image, keep_cells)
    with _default_dtype(_DTYPES[header["dtype"]]), sdpa_kernel(SDPBackend.MATH):
        failed = failed_call(lambda: model(image), again)
    return _encode(tracer if failed is None else again, watcher.sights, outputs, error, failed)


def _model(header: Header, tensors: Tensors) -> nn.Module:
    dtype = _DTYPES[header["dtype"]]
    sizes, wider = Sizes(**header["sizes"]), int(header.get("wider", 0))
    with _default_dtype(dtype):
        model = _Submission.recipe.build(_widened(sizes, wider)) if wider else _built(sizes, header)
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
    tracer: Tracer,
    sights: list[list[Any]],
    outputs: list[tuple[str, Tensor]],
    error: Header | None = None,
    failed: Header | None = None,
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
        "failed": failed,
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
        return plain_passes(model, images, header["modes"], header["backward"], header["switches"])


def _habits(header: Header, tensors: Tensors) -> Reply:
    """One pass in eval mode, watched call by call."""
    model = _model({**header, "dtype": "float64", "mode": "eval"}, tensors)
    with _default_dtype(torch.float64):
        return habits(model, tensors["image"].clone()), {}


def _inventory(header: Header, tensors: Tensors) -> Reply:
    """What a fresh model holds."""
    torch.manual_seed(int(header["seed"]))
    return inventory(lambda: _built(Sizes(**header["sizes"]), header)), {}


def _prepare(header: Header, tensors: Tensors) -> Reply:
    """The student's own way from a picture to the model's input."""
    return prepared(_Submission.loaded, int(header["side"]))


HANDLERS = {
    "load": _load,
    "infer": _infer,
    "components": _components,
    "parameters": _parameters,
    "functions": _functions,
    "call": _call,
    "sizes": _sizes,
    "trace": _trace,
    "forward": _forward,
    "habits": _habits,
    "inventory": _inventory,
    "prepare": _prepare,
}

ignore_compiler()
sys.setrecursionlimit(max(sys.getrecursionlimit(), 3_000))  # hooks and dispatch deepen the student's stack
