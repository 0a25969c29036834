"""Child side: reading one report, in a process that no code of the submission has run in."""

from __future__ import annotations

import importlib
from dataclasses import astuple
from itertools import islice
from typing import Any

from torch import Tensor

from ..reading.documents import READERS
from .passages import CHARACTERS, PASSAGES

Reply = tuple[dict[str, Any], dict[str, Tensor]]


def _read(header: dict[str, Any], tensors: dict[str, Tensor]) -> Reply:
    reader = importlib.import_module(f".{READERS[header['suffix']].module}", __package__)
    left, found = CHARACTERS, []
    for passage in islice(reader.passages(tensors["content"].numpy().tobytes()), PASSAGES):
        left -= len(passage.text)
        if left < 0:
            break
        found.append(astuple(passage))
    return {"passages": found}, {}


HANDLERS = {"read": _read}
