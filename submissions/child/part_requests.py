"""Child side: what the parent may ask of single components and exercises."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from ..errors import NotLoaded
from ..questions.randomise import seed_random_state
from .building.calling import call, functions
from .building.components import candidates
from .child import describe_error, describe_failure, is_out_of_memory
from .replies import Header, Reply, Tensors
from .subject import Submission, default_dtype, model_of


def _components(header: Header, tensors: Tensors) -> Reply:
    """Finds what may be a component, by its name and by trying."""
    key = header["key"]
    try:
        found = Submission.components[key] = candidates(Submission.loaded, key, header["name"])
    except NotLoaded as error:
        return {"candidates": [], "failure": describe_failure(error)}, {}
    return {"candidates": [one.describe() for one in found], "failure": None}, {}


def _functions(header: Header, tensors: Tensors) -> Reply:
    """Finds what may be an exercise, by its name."""
    key = header["key"]
    try:
        found = Submission.functions[key] = functions(Submission.loaded, key, header["name"])
    except NotLoaded as error:
        return {"functions": [], "failure": describe_failure(error)}, {}
    rows = [{"name": one.name, "file": one.file, "line": one.node.lineno} for one in found]
    return {"functions": rows, "failure": None}, {}


def _call(header: Header, tensors: Tensors) -> Reply:
    """One call of a function, with every role's choices."""
    key, number = header["function"]
    seed_random_state(int(header["seed"]))
    given = {role: [_given(one, header, tensors) for one in row] for role, row in header["given"].items()}
    try:
        with default_dtype(torch.float64), sdpa_kernel(SDPBackend.MATH):
            found, roles = call(Submission.functions[key][number], given)
    except NotLoaded as error:
        return {"failure": describe_failure(error), "error": None}, {}
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
        return model_of({**header, **one["model"]}, {})
    return tensors[one["tensor"]] if "tensor" in one else [tensors[name] for name in one["tensors"]]


HANDLERS = {"components": _components, "functions": _functions, "call": _call}
