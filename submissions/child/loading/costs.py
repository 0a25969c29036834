"""Assignments that had better not be run, though something refers to them: data, downloads, whole models."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import FunctionType, ModuleType

from torch import nn
from torch.utils.data import DataLoader, Dataset

from ...reading.code import STUDENT_PREFIX
from .statements import Need

TRAINS = "not run: it trains"  # why a statement of a script is left out
_CHECKS = "not run: it checks the script, which runs with other numbers here"
_DOWNLOADS = {
    "load_dataset",
    "urlopen",
    "urlretrieve",
    "hf_hub_download",
    "load_state_dict_from_url",
}
_READS = {"fit", "from_pretrained", "imread", "load", "open", "read_csv", "read_image"}
_NETWORK = {"requests", "urllib", "gdown", "wget", "kagglehub", "subprocess"}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_TRANSFORMS = "torchvision.transforms"  # modules too, but they prepare images
_ZOOS = ("torchvision.models", "timm", "transformers")


def cost(node: ast.stmt, need: Need, namespace: Mapping[str, object]) -> str | None:
    """Say why the statement had better not be run in ``namespace``, or return None.

    A model class gets whatever it needs but data sets and downloads; others get no models either, and read no
    files. A script gets whatever is lent to it (``lending``), but does not train unless nothing else runs it,
    nor check itself.
    """
    if need is Need.SCRIPT and isinstance(node, ast.Assert):
        return _CHECKS
    if need is Need.ALWAYS or isinstance(node, _DEFINITIONS):
        return None
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            names = _dotted(call.func)
            target = _resolve(names, namespace)
            if need is Need.SCRIPT:
                if _trains(names, target):
                    return TRAINS
                continue
            if _loads_data(names, target):
                return "not run: it loads data or uses the network"
            if need is Need.OTHER and _is_heavy(names, target):
                return "not run: it builds or runs a model or reads a file, and no class needs it"
    return None


def _trains(names: list[str], target: object) -> bool:
    """Whether the call is a backward pass, or one of a student's function that makes one."""
    own = isinstance(target, FunctionType) and target.__code__.co_filename.startswith(STUDENT_PREFIX)
    return names[-1] == "backward" or (own and "backward" in target.__code__.co_names)  # type: ignore[attr-defined]  # own


def _dotted(function: ast.expr) -> list[str]:
    """Return ``["torch", "load"]`` of ``torch.load``, with "" for what is no name."""
    names: list[str] = []
    while isinstance(function, ast.Attribute):
        names.insert(0, function.attr)
        function = function.value
    return [function.id, *names] if isinstance(function, ast.Name) else ["", *names]


def _resolve(names: list[str], namespace: Mapping[str, object]) -> object:
    """Look a dotted name up, through modules and classes only, so that no student code runs for it."""
    target = namespace.get(names[0])
    for name in names[1:]:
        target = getattr(target, name, None) if isinstance(target, (ModuleType, type)) else None
    return target


def _loads_data(names: list[str], target: object) -> bool:
    is_data = isinstance(target, type) and issubclass(target, (Dataset, DataLoader))
    return is_data or names[-1] in _DOWNLOADS or names[0] in _NETWORK


def _is_heavy(names: list[str], target: object) -> bool:
    if isinstance(target, type):
        return issubclass(target, nn.Module) and not target.__module__.startswith(_TRANSFORMS)
    if isinstance(target, FunctionType):
        own = target.__code__.co_filename.startswith(STUDENT_PREFIX)
        return own or target.__module__.startswith(_ZOOS) or names[-1] in _READS
    return names[-1] in _READS
