"""What was written in a running Python, as files: the source of a class or function that lives in it.

Runs where the student works, in a notebook or a script of theirs. Nothing of theirs is called: what is
handed in is text, which is executed in a process of its own like any other submission's. Imports no torch.
"""

from __future__ import annotations

import ast
import inspect
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from importlib.util import resolve_name
from pathlib import Path
from types import FunctionType, ModuleType

from .cells_run import Cells, cells_run
from .packing import HandIn
from .python_text import decode, nodes

_STANDARD_LIBRARY = Path(sysconfig.get_path("stdlib"))
_INSTALLED = {"site-packages", "dist-packages"}

Definition = type | FunctionType


class NoSourceError(ValueError):
    """The code of a class or function cannot be had; the message names it, and says what to do."""


def definition_of(what: object) -> Definition:
    """Return the class or function that ``what`` is, or the class that it is an instance of.

    Raises NoSourceError for one that cannot be found by its name.
    """
    plain = inspect.unwrap(what) if isinstance(what, FunctionType) else what
    found = plain if isinstance(plain, Definition) else type(plain)
    if "<" in found.__qualname__:
        raise NoSourceError(
            f"{found.__qualname__} is made inside of a function, or has no name: define it with a name of"
            " its own, at the top level of a file or cell"
        )
    return found


def hand_in(definition: Definition) -> HandIn:
    """Take the cells of the notebook in which ``definition`` stands, or its file and those that this imports.

    What was run as ``In [3]`` is cell 3. Of the imported files, those are taken that lie in the same folder,
    or below it. Raises NoSourceError.
    """
    module = sys.modules.get(definition.__module__)
    file = _file(module)
    name = definition.__name__
    if module is None or file is None:
        cells = cells_run() if definition.__module__ == "__main__" else Cells([])
        if name not in cells.defined:
            raise NoSourceError(
                f"the code of {name} was not found: write it into a cell or a .py file and run that,"
                " or give the path of the file"
            )
        return cells.hand_in(name)
    if _is_installed(file):
        library = definition.__module__.partition(".")[0]
        raise NoSourceError(
            f"you passed a {name} of the library {library}: pass a class or function of your own, such as"
            " vitcheck.check(ViT), or the path of the file that builds the model"
        )
    files = _with_imported(module, file)
    return HandIn(file.name, False, files) if len(files) == 1 else HandIn(file.stem, True, files)


def _file(module: ModuleType | None) -> Path | None:
    file = Path(getattr(module, "__file__", None) or "")
    return file.resolve() if file.suffix == ".py" and file.is_file() else None


def _is_installed(file: Path) -> bool:
    return not _INSTALLED.isdisjoint(file.parts) or file.is_relative_to(_STANDARD_LIBRARY)


def _with_imported(module: ModuleType, file: Path) -> Mapping[str, bytes]:
    """The files by their paths below the folder that the first of them is imported from."""
    root = file.parents[_name(module).count(".") + (file.name == "__init__.py")]
    found: dict[Path, bytes] = {}
    waiting = [module]
    while waiting:
        one = waiting.pop()
        place = _file(one)
        if place is None or place in found or not place.is_relative_to(root) or _is_installed(place):
            continue
        found[place] = place.read_bytes()
        names = {name for whole in _imports(one, found[place]) for name in _with_parents(whole)}
        waiting += [sys.modules[name] for name in sorted(names & sys.modules.keys())]
    return {place.relative_to(root).as_posix(): content for place, content in found.items()}


def _name(module: ModuleType) -> str:
    """What it is imported as, also where it was run by ``python -m``."""
    return module.__spec__.name if module.__spec__ else module.__name__


def _imports(module: ModuleType, content: bytes) -> Iterator[str]:
    """The full names of what a file may import, its own packages included."""
    yield _name(module)
    for node in nodes(decode(content)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), module.__package__)
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _with_parents(name: str) -> Iterator[str]:
    while name:
        yield name
        name = name.rpartition(".")[0]
