"""Child side: reading one report, in a process that no code of the submission has run in."""

from __future__ import annotations

import importlib
from itertools import islice
from typing import Any

from ..reading.documents import READERS
from .passages import CHARACTERS, PASSAGES, Passage, ReadDocument


def _read(header: dict[str, Any]) -> tuple[Passage, ...]:
    asked = ReadDocument(**header)
    reader = importlib.import_module(f".{READERS[asked.suffix].module}", __package__)
    left, found = CHARACTERS, []
    for passage in islice(reader.passages(asked.content.numpy().tobytes()), PASSAGES):
        left -= len(passage.text)
        if left < 0:
            break
        found.append(passage)
    return tuple(found)


HANDLERS = {ReadDocument.name: _read}
