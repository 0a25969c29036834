"""How a program is handed in: in one file, in several, in a package, in the cells of a notebook."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from itertools import pairwise

from . import tidying
from .drawing import idiom
from .writing import Writer

Files = dict[str, bytes]


def pieces(source: str) -> list[str]:
    """The top-level parts of a source: each class or function alone, what stands between them together."""
    tree = ast.parse(source)
    lines = source.splitlines(keepends=True)
    starts: list[int] = []
    alone = True
    for node in tree.body:
        defines = isinstance(node, (ast.ClassDef, ast.FunctionDef))
        if alone or defines:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))]) - 1
            while first and lines[first - 1].lstrip().startswith("#"):
                first -= 1
            starts.append(first)
        alone = defines
    starts = [0, *starts[1:], len(lines)]
    return ["".join(lines[a:b]).strip("\n") + "\n" for a, b in pairwise(starts)]


def one_file(source: str, model: str, file: str) -> Files:
    return {file: source.encode()}


def notebook(source: str, model: str, file: str) -> Files:
    return {file.replace(".py", ".ipynb"): notebook_of([("code", one) for one in pieces(source)])}


def course_notebook(source: str, model: str, file: str) -> Files:
    """With headings between the cells, and what Colab wants installed."""
    cells = [("code", "!pip install -q einops\n")] if "einops" in source else []
    cells.append(("markdown", "# Vision Transformer\nWe build the model step by step."))
    for one in pieces(source):
        defined = _defined(one)
        if len(defined) == 1 and one.startswith("class "):
            cells.append(("markdown", f"## {defined[0]}"))
        cells.append(("code", one))
    return {file.replace(".py", ".ipynb"): notebook_of(cells)}


def notebook_of(parts: list[tuple[str, str]]) -> bytes:
    """A notebook of cells, each a kind and a text."""
    code: dict[str, object] = {"execution_count": None, "outputs": []}
    cells: list[dict[str, object]] = [
        {"cell_type": kind, "metadata": {}, **(code if kind == "code" else {}), "source": text.rstrip("\n")}
        for kind, text in parts
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}, indent=1).encode()


def folder(source: str, model: str, file: str) -> Files:
    """The model's class and what follows in one file, all else in another."""
    split = _split(source, model)
    if not split:
        return one_file(source, model, file)
    imports, layers, own = split
    return {
        "layers.py": _file(imports, layers),
        file: _file(imports, own, "from layers import *"),
    }


def package(source: str, model: str, file: str) -> Files:
    """Folders, as in repositories: the layers, the model, and a script that uses it."""
    split = _split(source, model)
    if not split:
        return one_file(source, model, file)
    imports, layers, own = split
    at = next(index for index, part in enumerate(own) if model in _defined(part))
    names = [name for part in layers for name in _defined(part) if tidying.used(name, own[: at + 1])]
    files = {
        "models/__init__.py": f"from .vit import {model}\n".encode(),
        "models/vit.py": _file(
            imports, own[: at + 1], f"from .layers import {', '.join(names)}" if names else ""
        ),
    }
    files["models/layers.py"] = _file(imports, layers)
    if own[at + 1 :]:
        files["main.py"] = _script(imports, layers, own, at)
    return files


def _script(imports: str, layers: list[str], own: list[str], at: int) -> bytes:
    rest = own[at + 1 :]
    lines = []
    for module, parts in (("models.layers", layers), ("models.vit", own[: at + 1])):
        names = [name for part in parts for name in _defined(part) if tidying.used(name, rest)]
        lines += [f"from {module} import {', '.join(names)}"] if names else []
    return _file(imports, rest, "\n".join(lines))


def _split(source: str, model: str) -> tuple[str, list[str], list[str]] | None:
    """The imports, the parts before the model, and those from it on; None where there are not all."""
    parts = pieces(source)
    at = next(index for index, part in enumerate(parts) if model in _defined(part))
    imports, rest = _head(parts[0])
    layers = [*([rest] if _defined(rest) else []), *parts[1:at]]
    if not at or not imports or not layers:
        return None
    return imports, layers, parts[at:]


def _head(part: str) -> tuple[str, str]:
    """The imports, and what stands between and after them; a heading above them is left out."""
    lines = part.splitlines(keepends=True)
    places = [index for index, line in enumerate(lines) if line.startswith(("import ", "from "))]
    rest = [
        line for index, line in enumerate(lines) if index not in places and index > min(places, default=-1)
    ]
    return "".join(lines[place] for place in places), "".join(rest).strip("\n")


def _file(imports: str, parts: list[str], own: str = "") -> bytes:
    read = [
        line for line in imports.splitlines() if any(tidying.used(name, parts) for name in _imported(line))
    ]
    head = "\n".join([*read, *([own] if own else [])])
    return ("\n\n\n".join([*([head] if head else []), *(part.strip("\n") for part in parts)]) + "\n").encode()


def _imported(line: str) -> list[str]:
    node = ast.parse(line).body[0]
    assert isinstance(node, (ast.Import, ast.ImportFrom))
    return [alias.asname or alias.name.split(".")[0] for alias in node.names]


def _defined(part: str) -> list[str]:
    """What a part defines at the top."""
    found = []
    for node in ast.parse(part).body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            found.append(node.name)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found.append(node.targets[0].id)
    return found


LAYOUTS: dict[str, Callable[[str, str, str], Files]] = {
    "file": one_file,
    "notebook": notebook,
    "course notebook": course_notebook,
    "folder": folder,
    "package": package,
}


@idiom("layout", often=12)
def in_one_file(w: Writer) -> str:
    return "file"


@idiom("layout", often=2)
def in_a_notebook(w: Writer) -> str:
    return "notebook"


@idiom("layout", often=2)
def in_a_notebook_of_a_course(w: Writer) -> str:
    return "course notebook"


@idiom("layout", often=2)
def in_a_folder(w: Writer) -> str:
    return "folder"


@idiom("layout", often=2)
def in_a_package(w: Writer) -> str:
    return "package"
