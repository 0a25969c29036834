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

from .code import cell_file
from .errors import NotLoaded

if TYPE_CHECKING:
    import nbformat


def cells(name: str, content: bytes) -> dict[str, bytes]:
    """List the code cells of the notebook file ``name``, in order, by their file names; magics are left in.

    Raises NotLoaded where ``content`` is no notebook of format 3 or 4, or not one of Python.
    """
    notebook = _read(name, content)
    metadata = notebook.get("metadata", {})
    language = metadata.get("kernelspec", {}).get("language") or metadata.get("language_info", {}).get("name")
    if language and "python" not in str(language).lower():
        raise NotLoaded(f"{name} is a notebook in {language}, not in Python")
    return {
        cell_file(name, number): cell["source"].encode("utf-8", "replace")
        for number, cell in enumerate(notebook["cells"], start=1)
        if cell["cell_type"] == "code"
    }


def _read(name: str, content: bytes) -> nbformat.NotebookNode:
    import nbformat  # here: it takes a while, and few submissions are notebooks

    try:
        text = content.decode("utf-8-sig")
        if not isinstance(json.loads(text), Mapping):
            raise ValueError("it is not a JSON object")
    except (ValueError, RecursionError) as error:
        raise NotLoaded(f"{name} is not a Jupyter notebook: its JSON cannot be read ({error})") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # cells without an id are fine
            # nbformat has no annotations
            notebook: nbformat.NotebookNode = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
            return notebook
    except Exception as error:  # on a damaged notebook, nbformat raises KeyError, TypeError and others
        raise NotLoaded(
            f"{name} is a damaged notebook ({error}); open it in Jupyter and save it again"
        ) from error
