"""Notebooks as passages: their text, and what their code printed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import nbformat

from .markdown import passages_of
from .passages import Passage, PassageKind


def passages(content: bytes) -> Iterator[Passage]:
    """Read a file. Raises what nbformat raises where it is no notebook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells without an id are fine
        text = content.decode("utf-8-sig")
        notebook = nbformat.reads(text, as_version=4)
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            yield from passages_of(cell["source"])
        elif cell["cell_type"] == "code":
            yield Passage(PassageKind.CODE, cell["source"])
            for output in cell["outputs"]:
                yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[Passage]:
    data = output.get("data", {})
    if text := output.get("text") or data.get("text/plain"):
        yield Passage(PassageKind.CODE, text)
    if any(kind.startswith("image/") for kind in data):
        yield Passage(PassageKind.PICTURE, "")
