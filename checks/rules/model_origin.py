"""Was the model taken out of a library, or of this package?"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ...submissions.questions.code_places import Code, codes_of
from ...submissions.questions.inventory import Inventory
from ...submissions.reading.code import module_file
from ...submissions.reading.python_text import decode, nodes, written

# by library: modules that hold ViTs and their parts, and the file that people copy
_PLACES = {
    "torchvision": (("torchvision.models.",), "models/vision_transformer.py"),
    "timm": (
        ("timm.models.", "timm.layers.patch_embed", "timm.layers.attention", "timm.layers.mlp"),
        "models/vision_transformer.py",
    ),
    "transformers": (("transformers.models.",), "models/vit/modeling_vit.py"),
}
_OWN_FILES = ("reference/vit.py", "submissions/child/sample_models.py")
_PACKAGE = __package__.partition(".")[0]
_OWN = tuple(f"{_PACKAGE}.{part}" for part in ("reference.", "submissions.child.sample_models"))
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
    for code in inventory.codes:
        if f"{code.place}.".startswith(_PREFIXES):
            return f"the model runs {code.place}.{code.name}"
    return _executed(inventory.codes) or _copied(files)


def taken_from_us(inventory: Inventory) -> bool:
    """Whether the model, or a part of it, is this package's: imported, or executed in whatever way."""
    names = (name for classes in inventory.modules.values() for name in classes)
    if any(one.startswith(_OWN) for one in (*names, *(code.place for code in inventory.codes))):
        return True
    loose = [code for code in inventory.codes if not code.handed_in]
    return _lines_of(_same(loose, _own_codes())) >= _LINES


def _executed(codes: Iterable[Code]) -> str | None:
    """What shows that a library's file was executed under another name, as by ``exec``.

    Some of it may well have been handed in, if there is enough of the submission's own beside it.
    """
    own = {code.digest: code for code in codes if not code.place}.values()
    for library in _PLACES:
        same = _same(own, _library_codes(library))
        lines = _lines_of(code for code in same if not code.handed_in)
        if _lines_of(same) >= _SHARE * _lines_of(own):
            lines = _lines_of(same)
        if lines >= _LINES:
            return f"{lines} of the {_lines_of(own)} lines of the model are {library}'s"
    return None


def _same(codes: Iterable[Code], digests: frozenset[str]) -> list[Code]:
    return [code for code in codes if code.digest in digests]


def _lines_of(codes: Iterable[Code]) -> int:
    return sum(code.lines for code in codes)


def _copied(files: Mapping[str, bytes]) -> str | None:
    own = [line for file, content in files.items() if module_file(file) for line in _lines(decode(content))]
    for library in _PLACES:
        same = [line for line in own if line in _library_lines(library)]
        if len(same) >= _LINES and len(same) >= _SHARE * len(own):
            return f"{len(same)} of the {len(own)} lines of its classes are copied from {library}"
    return None


@cache
def _library_lines(library: str) -> frozenset[str]:
    """The lines of the library's classes; none where it is not installed."""
    file = _library_file(library)
    return frozenset(_lines(file.read_text("utf-8"))) if file.is_file() else frozenset()


@cache
def _library_codes(library: str) -> frozenset[str]:
    """The digests of the library's functions; none where it is not installed."""
    return _codes_in(_library_file(library))


@cache
def _own_codes() -> frozenset[str]:
    files = (Path(__file__).parents[2] / file for file in _OWN_FILES)
    return frozenset(digest for file in files for digest in _codes_in(file))


def _codes_in(file: Path) -> frozenset[str]:
    return frozenset(one.digest for one in codes_of(file.read_bytes())) if file.is_file() else frozenset()


def _library_file(library: str) -> Path:
    spec = find_spec(library)  # does not import it
    return Path(spec.origin).parent / _PLACES[library][1] if spec and spec.origin else Path()


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
