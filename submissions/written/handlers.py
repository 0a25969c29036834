"""Child side: reading one report, in a process that no code of the submission has run in."""

from __future__ import annotations

import importlib
from dataclasses import astuple
from typing import Any

from torch import Tensor

from .documents import READERS

_CHARACTERS = 400_000  # of text in all, with one for each passage; a report has about 20,000

Reply = tuple[dict[str, Any], dict[str, Tensor]]


def _read(header: dict[str, Any], tensors: dict[str, Tensor]) -> Reply:
    reader = importlib.import_module(f".{READERS[header['suffix']].module}", __package__)
    left, found = _CHARACTERS, []
    for passage in reader.passages(tensors["content"].numpy().tobytes()):
        left -= len(passage.text) + 1
        if left < 0:
            break
        found.append(astuple(passage))
    return {"passages": found}, {}


HANDLERS = {"read": _read}
