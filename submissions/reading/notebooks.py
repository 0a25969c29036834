"""Jupyter notebooks as code.

Every code cell becomes a source file of its own, named after its place among all cells (``"vit.ipynb[3]"``),
so that a line number is the one that the student sees in it. All cells of a notebook are executed in one
module.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..errors import NotLoaded
from .code import cell_file
from .python_text import ABSURD

if TYPE_CHECKING:
    import nbformat


def cells(name: str, content: bytes) -> dict[str, bytes]:
    """List the code cells of the notebook file ``name``, in order, by their file names; magics are left in.

    Raises NotLoaded where ``content`` is no notebook of format 3 or 4, or not one of Python.
    """
    text = _text(name, content)
    try:
        language, code = _read(name, text)
    except Exception as error:  # of a damaged notebook, anything may be anything
        raise NotLoaded(
            f"{name} is a damaged notebook ({error}); open it in Jupyter and save it again"
        ) from error
    if "python" not in language.lower():
        raise NotLoaded(f"{name} is a notebook in {language}, not in Python")
    return code


def _text(name: str, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
        if not isinstance(json.loads(text), Mapping):
            raise ValueError("it is not a JSON object")
    except ABSURD as error:
        raise NotLoaded(f"{name} is not a Jupyter notebook: its JSON cannot be read ({error})") from error
    return text


def _read(name: str, text: str) -> tuple[str, dict[str, bytes]]:
    """Its language and code."""
    import nbformat  # here: it takes a while, and few submissions are notebooks

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cells without an id are fine
        notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)
    metadata = notebook.get("metadata", {})
    language = metadata.get("kernelspec", {}).get("language") or metadata.get("language_info", {}).get("name")
    return str(language or "python"), {
        cell_file(name, number): cell["source"].encode("utf-8", "replace")
        for number, cell in enumerate(notebook["cells"], start=1)
        if cell["cell_type"] == "code"
    }
