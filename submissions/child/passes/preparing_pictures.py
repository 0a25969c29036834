"""Child side: the student's own way from a picture to the model's input, called with pictures of ours."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from ...questions.images import PICTURES
from ...questions.preparing import Prepared
from ..child import quoted
from ..loading.definitions import Definitions
from ..loading.execution import Loaded
from ..tracing.results import results_in

Prepare = Callable[[Any], Any]

_NAME = re.compile(
    r"pre_?process|(load|read|prepare|process|transform|get|open)_?(and_\w+_)?(an_?)?(image|img|input|picture|photo)"
    r"|(image|img|picture)_?(to_?)(tensor|input)",
    re.IGNORECASE,
)
_TRANSFORMS = ("torchvision.transforms",)
_CONTAINERS = ("Compose", "Sequential")


def prepared(loaded: Loaded, side: int) -> Prepared | None:
    """What comes out for each picture of ``images.PICTURES``, by the first way that gives tensors.

    None where the submission has no such function or transform.
    """
    for name, is_function, prepare in _candidates(loaded):
        for give in (_as_image, _as_path):
            out: dict[str, Tensor] = {}
            errors = {picture: _call(prepare, give(picture, side), picture, out) for picture in PICTURES}
            if "black" in out:
                told = {picture: error for picture, error in errors.items() if error is not None}
                dtypes = {picture: str(one.dtype).removeprefix("torch.") for picture, one in out.items()}
                tensors = {picture: one.double().contiguous() for picture, one in out.items()}
                return Prepared(name, is_function, tensors, dtypes, told)
    return None


def _candidates(loaded: Loaded) -> Iterator[tuple[str, bool, Prepare]]:
    """Functions that no other of them uses first, then transforms that are not random."""
    functions = {
        one.name: one
        for one in Definitions(loaded).all.values()
        if isinstance(one.node, ast.FunctionDef) and _NAME.search(one.name) and _takes_one(one.value)
    }
    for one in functions.values():
        others = (other.node for other in functions.values() if other is not one)
        if not any(
            isinstance(node, ast.Name) and node.id == one.name for other in others for node in ast.walk(other)
        ):
            yield one.name, True, getattr(loaded.modules[one.module], one.name)
    for module in loaded.modules.values():
        for name, value in vars(module).items():
            if _is_transform(value):
                yield name, False, value


def _takes_one(function: object) -> bool:
    parameters = inspect.signature(function).parameters.values() if callable(function) else ()
    needed = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return len(needed) == 1


def _is_transform(value: object) -> bool:
    kind = type(value)
    own = kind.__module__.startswith(_TRANSFORMS) and kind.__name__ in _CONTAINERS
    parts = list(value) if isinstance(value, nn.Sequential) else []
    stack = bool(parts) and all(type(one).__module__.startswith(_TRANSFORMS) for one in parts)
    return (own or stack) and "Random" not in repr(value)


def _as_image(picture: str, side: int) -> object:
    return PICTURES[picture](side)


def _as_path(picture: str, side: int) -> object:
    path = Path(f"{picture}.png").resolve()
    PICTURES[picture](side).save(path)
    return str(path)


def _call(prepare: Prepare, given: object, picture: str, out: dict[str, Tensor]) -> str | None:
    """Keeps the tensor that comes out; the answer is why there is none."""
    try:
        with torch.no_grad():
            result = prepare(given)
        result = torch.from_numpy(result) if isinstance(result, np.ndarray) else result
        if isinstance(result, Image.Image):
            return "a picture came out, not a tensor"
        found = [one for _, one in results_in(result).tensors if one.dim() in (3, 4)]
    except (Exception, SystemExit) as error:
        return quoted(error)
    if not found:
        return "no tensor of three or four axes came out"
    out[picture] = found[0]
    return None
