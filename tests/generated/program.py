"""A generated program: its text with marks, what is known of it, and the files that are handed in."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from .facts import Facts
from .marking import Span, plain, spans
from .writing import Writer

# small, and no two alike, so that no mistake hides: the patches are nine, the tokens ten
SMALL = {
    "image": 12,
    "patch": 4,
    "channels": 3,
    "dim": 24,
    "depth": 3,
    "heads": 3,
    "mlp": 96,
    "ratio": 4,
    "classes": 5,
}


@dataclass(frozen=True)
class Program:
    """A right program."""

    text: str  # with marks
    entry: str  # the expression that makes the model or part
    weights: Mapping[str, str]  # by role, an expression in ``self``, and in ``i`` for those of block i
    facts: Facts
    idioms: tuple[str, ...]
    model: str  # its class
    sizes: Mapping[str, str]  # as they stand in it
    layout: str = "file"  # file | notebook | folder
    file: str = "vit.py"

    @property
    def source(self) -> str:
        return plain(self.text)

    @property
    def spans(self) -> tuple[Span, ...]:
        return spans(self.text)

    def files(self, source: str | None = None) -> dict[str, bytes]:
        """What is handed in; ``source`` stands instead of the program's own where it is given."""
        source = self.source if source is None else source
        if self.layout == "notebook":
            return {self.file.replace(".py", ".ipynb"): _notebook(source)}
        if self.layout == "folder":
            return _folder(source, self.model, self.file)
        return {self.file: source.encode()}


def laid_out(
    w: Writer, chunks: list[str], entry: str, weights: Mapping[str, str], facts: Facts, model: str
) -> Program:
    """A program of chunks of code, decorated as its writer likes."""
    from .decorating import decorated

    sizes = {size: w.values[size] for size in SMALL}
    text = decorated(w, "\n\n\n".join(chunks) + "\n")
    layout = ("file", "file", "file", "file", "notebook", "folder")[w.choices.below(6)]
    file = w.choices.among(
        "vit.py", "model.py", "vit_transformer.py", "main.py", "vision_transformer.py", "assignment.py"
    )
    return Program(text, entry, weights, replace(facts), tuple(w.choices.made), model, sizes, layout, file)


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


def _notebook(source: str) -> bytes:
    cells: list[dict[str, object]] = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": piece.rstrip("\n"),
        }
        for piece in pieces(source)
    ]
    document = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 2}
    return json.dumps(document, indent=1).encode()


def _folder(source: str, model: str, file: str) -> dict[str, bytes]:
    """The model's class and what follows in one file, all else in another."""
    parts = pieces(source)
    at = next(index for index, part in enumerate(parts) if f"class {model}(" in part)
    imports = "".join(
        line for line in parts[0].splitlines(keepends=True) if line.startswith(("import ", "from "))
    )
    if at == 0 or not imports:
        return {file: source.encode()}
    layers = "\n\n".join(parts[:at])
    return {
        "layers.py": layers.encode(),
        file: (f"{imports}from layers import *\n\n\n" + "\n\n".join(parts[at:])).encode(),
    }
