"""Was the model taken out of a library?"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..submissions.answers import Inventory
from ..submissions.code import module_file
from ..submissions.python_text import decode, nodes, written

# by library: modules that hold ViTs and their parts, and the file that people copy
_PLACES = {
    "torchvision": (("torchvision.models.",), "models/vision_transformer.py"),
    "timm": (
        ("timm.models.", "timm.layers.patch_embed", "timm.layers.attention", "timm.layers.mlp"),
        "models/vision_transformer.py",
    ),
    "transformers": (("transformers.models.",), "models/vit/modeling_vit.py"),
}
_PREFIXES = tuple(prefix for prefixes, _ in _PLACES.values() for prefix in prefixes)

# What two people write alike by chance, such as `return self.norm(x)`, stays far below both.
_SHARE = 0.6  # of a submission's lines in classes that stand in the library's file
_LINES = 40  # and how many at least


def taken_from_a_library(inventory: Inventory, files: Mapping[str, bytes]) -> str | None:
    """What shows that the model, or a part of it, is a library's; None where nothing does."""
    for path, classes in inventory.modules.items():
        for number, name in enumerate(classes):
            if name.startswith(_PREFIXES):
                relation = "is derived from" if number else "is"
                return f"{path or 'the model'} {relation} {name}"
    return _copied(files)


def _copied(files: Mapping[str, bytes]) -> str | None:
    own = [line for file, content in files.items() if module_file(file) for line in _lines(decode(content))]
    for library in _PLACES:
        same = [line for line in own if line in _library_lines(library)]
        if len(same) >= _LINES and len(same) >= _SHARE * len(own):
            return f"{len(same)} of the {len(own)} lines of its classes stand in {library}'s own file"
    return None


@cache
def _library_lines(library: str) -> frozenset[str]:
    """The lines of the library's classes; none where it is not installed."""
    spec = find_spec(library)  # does not import it
    file = Path(spec.origin).parent / _PLACES[library][1] if spec and spec.origin else Path()
    return frozenset(_lines(file.read_text("utf-8"))) if file.is_file() else frozenset()


def _lines(text: str) -> Iterator[str]:
    """Each simple statement in the methods of classes, without annotations, comments and layout."""
    for outer in nodes(text):  # what does not parse was not executed either
        if isinstance(outer, ast.ClassDef):
            for node in ast.walk(outer):
                if isinstance(node, (ast.Assign, ast.AugAssign, ast.Return, ast.Expr)):
                    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
                        yield written(node)
                elif isinstance(node, ast.AnnAssign) and node.value is not None:
                    yield f"{written(node.target)} = {written(node.value)}"
