"""A submission's code as statements: read once, and executed as often as sizes change."""

from __future__ import annotations

import ast
import linecache
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from ...errors import Frame, NotLoaded
from ...questions.loading import Skipped
from ...reading.code import STUDENT_PREFIX, cell_number, clean, module_file, syntax_error
from ...reading.missing_imports import unbound
from ...reading.passing_on import gaps_passed_on
from ...reading.python_text import ABSURD, NotPythonError, decode
from .statements import Need, Statement, needs, read_statements
from .to_come import stand_ins

TEXT_LENGTH = 300  # characters kept of a line, and of what an exception says


@dataclass(frozen=True, eq=False)
class Program:
    """A submission's code, read once and executed as often as sizes change."""

    statements: dict[str, list[Statement]]  # by module file; the file itself, or a notebook's cells
    parts: dict[str, list[str]]  # by module file: the source files that it is made of
    needs: dict[Statement, Need]
    skipped: tuple[Skipped, ...]  # magics and files with syntax errors
    broken: dict[str, NotLoaded]  # by source file: its syntax error
    missing: dict[str, set[str]]  # by module file: names that everybody imports, and that it does not
    to_come: Mapping[str, Callable[..., Any]]  # by name: for what nobody has written yet
    passed_on: bool  # does what is not written yet give back what it is given?
    is_script: bool = False  # is one of its modules run from top to bottom?
    trains: bool = False  # and is what trains its model run, too?

    def as_script(self, file: str, numbers: Mapping[int, int], trains: bool) -> Program:
        """The same code with other ``numbers`` in it, where every statement of the module ``file`` is run.

        Without ``trains``, those are left out that train.
        """
        statements = {
            module: [
                statement
                for part in parts
                if part not in self.broken
                for statement in read_statements(part, source_text(part), module == file, numbers)
            ]
            for module, parts in self.parts.items()
        }
        found = {**needs(statements), **dict.fromkeys(statements[file], Need.SCRIPT)}
        return replace(self, statements=statements, needs=found, is_script=True, trains=trains)


def read(given: Mapping[str, bytes], passed_on: bool) -> Program:
    """Read the Python files and notebook cells among those given; syntax errors are in what is returned."""
    files = gaps_passed_on(given) if passed_on else given
    statements: dict[str, list[Statement]] = {}
    parts: dict[str, list[str]] = {}
    skipped: list[Skipped] = []
    broken: dict[str, NotLoaded] = {}
    for file in sorted(files, key=lambda file: (module_file(file) or "", cell_number(file))):
        module = module_file(file)
        if module is None:
            continue
        text, magics = clean(decode(files[file]))
        skipped += [Skipped(file, one.line, one.text, "not run: a notebook command") for one in magics]
        _remember(file, text)
        body = statements.setdefault(module, [])
        parts.setdefault(module, []).append(file)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # invalid escapes and the like
                body += read_statements(file, text)
        except ABSURD as error:
            broken[file] = syntax_error(file, _told(error))
            line = (broken[file].frame or Frame(file, 1)).line
            source = (text.split("\n")[line - 1 : line] or [""])[0]
            skipped.append(Skipped(file, line, source.strip()[:TEXT_LENGTH], broken[file].reason))
    nodes = {
        module: [node for one in body for node in ast.walk(one.node)] for module, body in statements.items()
    }
    missing = {module: unbound(found) for module, found in nodes.items()}
    to_come = (
        {} if broken else stand_ins((one.node for one in chain.from_iterable(statements.values())), passed_on)
    )
    return Program(statements, parts, needs(statements), tuple(skipped), broken, missing, to_come, passed_on)


def _remember(file: str, text: str) -> None:
    """Make the source known to tracebacks, ``inspect.getsource`` and through it ``torch.jit.script``."""
    name = STUDENT_PREFIX + file
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)


def source_text(file: str) -> str:
    """The plain Python of a file that was read."""
    return "".join(linecache.getlines(STUDENT_PREFIX + file))


def _told(error: Exception) -> NotPythonError:
    return error if isinstance(error, NotPythonError) else NotPythonError(error)  # the latter by the compiler
