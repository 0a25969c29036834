"""Notebooks as code."""

import json

import pytest

from vitcheck.submissions.errors import NotLoaded
from vitcheck.submissions.reading.notebooks import cells


def notebook(*sources: tuple[str, object], language: str = "python") -> bytes:
    made = [
        {"cell_type": kind, "metadata": {}, "source": source} | ({"outputs": []} if kind == "code" else {})
        for kind, source in sources
    ]
    metadata = {"kernelspec": {"name": "k", "display_name": "k", "language": language}}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made}).encode()


def test_code_cells_are_files_numbered_among_all_cells() -> None:
    content = notebook(
        ("markdown", "# ViT"), ("code", ["import torch\n", "x = 1"]), ("raw", "-"), ("code", "!ls\ny = 'é'")
    )
    assert cells("a/vit.ipynb", content) == {
        "a/vit.ipynb[2]": b"import torch\nx = 1",
        "a/vit.ipynb[4]": "!ls\ny = 'é'".encode(),
    }


def test_format_3_is_read_too() -> None:
    cell = {
        "cell_type": "code",
        "input": ["x = 1\n", "y"],
        "language": "python",
        "outputs": [],
        "metadata": {},
    }
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [cell]}]}
    assert cells("old.ipynb", json.dumps(old).encode()) == {"old.ipynb[1]": b"x = 1\ny"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", r"nb.ipynb is not a Jupyter notebook: its JSON cannot be read"),
        (b"import torch", r"is not a Jupyter notebook"),
        (b"\xff\xfe\x00", r"is not a Jupyter notebook"),
        (b"[1]", r"it is not a JSON object"),
        (b"[" * 100_000, r"is not a Jupyter notebook"),
        (b"{}", r"nb.ipynb is a damaged notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "cells": 3}', r"is a damaged notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [1]}', r"is a damaged notebook"),
        (b'{"nbformat": 4, "nbformat_minor": 2, "metadata": {"kernelspec": [1]}, "cells": []}', r"damaged"),
        (notebook(("code", "x = 1")).replace(b'"x = 1"', b"{}"), r"nb.ipynb is a damaged notebook"),
        (b'{"nbformat": 9, "nbformat_minor": 5, "metadata": {}, "cells": []}', r"is a damaged notebook"),
        (notebook(("code", "x <- 1"), language="R"), r"nb.ipynb is a notebook in R, not in Python"),
    ],
)
def test_what_is_no_python_notebook_is_said(content: bytes, reason: str) -> None:
    with pytest.raises(NotLoaded, match=reason):
        cells("nb.ipynb", content)
