"""Executes a submission so that its model class can be found and built, whatever else its files do.

Runs next to student code, in the child process. What is run is decided statement by statement
(``statements``); one that fails is left out, and said.
"""

from __future__ import annotations

import ast
import builtins
import functools
import sys
import warnings
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import CodeType, ModuleType

from torch import Tensor, nn

from ...errors import Frame, NotLoaded
from ...questions.loading import Skipped
from ...reading.code import STUDENT_PREFIX
from ...reading.missing_imports import USUAL
from ...reading.python_text import base_name, imports
from ..child import frames_of, quoted
from .absent_bases import lacks_base, with_stand_in
from .costs import cost
from .importing import Importer, module_name
from .keys import names_in
from .program import TEXT_LENGTH, Program
from .program import read as read_program
from .statements import Need, Statement

NOT_NEEDED = "not run: no class or function needs it"
_CONSTANT = (int, float, tuple, str)


@dataclass
class Loaded:
    """A submission that has been executed.

    ``modules`` are by relative file, a notebook as one module. ``constants`` are the top-level names that the
    code binds to numbers, strings and tuples. ``error`` says why there is nothing to grade; ``cause`` is what
    most likely stands in the way if no usable model is found all the same, such as a missing package that a
    class uses.
    """

    program: Program = field(repr=False)
    modules: dict[str, ModuleType] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    constants: dict[str, object] = field(default_factory=dict)
    error: NotLoaded | None = None
    cause: NotLoaded | None = None
    raised: list[tuple[Statement, BaseException]] = field(default_factory=list)  # by a script's statements
    importers: dict[str, set[str]] = field(default_factory=dict)  # of each module, those that import it
    stopped: tuple[Statement, BaseException] | None = None  # of these, what the rest of it cannot do without
    undefined: NotLoaded | None = None  # why a class of layers is not there

    def reload(self, constants: Mapping[str, object]) -> Loaded:
        """Execute the files again, into new modules, with other values of top-level constants.

        These are, in every file, the names that are bound to a literal or to an expression of literals and
        names.
        """
        return _Execution(self.program, constants).run()


def load(files: Mapping[str, bytes], passed_on: bool = False) -> Loaded:
    """Execute the Python and notebook cells among ``files``, what is not written yet ``passed_on`` or not.

    Raises nothing that student code raises.
    """
    return _Execution(read_program(files, passed_on), {}).run()


@contextmanager
def no_arguments() -> Iterator[None]:
    """As if the student's file had been called without any: for argparse."""
    argv, sys.argv = sys.argv, ["main.py"]
    try:
        yield
    finally:
        sys.argv = argv


class _Execution:
    """One run of a program."""

    def __init__(self, program: Program, constants: Mapping[str, object]) -> None:
        self._program = program
        self._constants = constants
        self._importer = Importer(program.statements, self._module)
        self._loaded = Loaded(program, skipped=list(program.skipped))
        self._packages: dict[str, ModuleType] = {}  # folders without __init__.py
        self._failures: list[tuple[Statement, NotLoaded]] = []
        self._unbound: dict[str, NotLoaded] = {}  # why there is nothing of this name
        self._absent: set[str] = set()  # what packages are called that are not installed, and what they hold
        nodes = [one.node for body in program.statements.values() for one in body]
        classes = [one for one in nodes if isinstance(one, ast.ClassDef)]
        self._extended = {base_name(base) for one in classes for base in one.bases}

    def run(self) -> Loaded:
        with no_arguments(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for file in self._order():
                self._module(file)
        loaded = self._loaded
        has_model = any(_defines_model(module) for module in loaded.modules.values())
        loaded.cause = next(self._causes(has_model), None)
        loaded.error = None if has_model else loaded.cause
        return loaded

    def _order(self) -> list[str]:
        """List files that no other imports first, so that circular imports begin where the student begins."""
        files = [file for file in self._program.statements if file not in self._program.broken]
        importers = self._loaded.importers
        for file in files:
            for statement in self._program.statements[file]:
                for name, level in imports(statement.node):
                    for target in self._importer.find(file, name, level) or ():
                        importers.setdefault(target, set()).add(file)
        return sorted(files, key=lambda file: (bool(importers.get(file, set()) - {file}), file))

    def _module(self, file: str) -> ModuleType:
        """Return the module of ``file``, executed at the first call. Raises NotLoaded for a syntax error."""
        if file.endswith("/"):
            return self._packages.setdefault(file, ModuleType(module_name(file)))
        if file in self._program.broken:
            raise self._program.broken[file]
        if file not in self._loaded.modules:
            module = self._loaded.modules[file] = self._new_module(file)
            sys.modules[module.__name__] = module  # dataclasses and inspect look there
            self._run_statements(file, module)
        return self._loaded.modules[file]

    def _new_module(self, file: str) -> ModuleType:
        module = ModuleType(module_name(file))
        own = _lent(self._program.missing[file]) | {
            **self._program.to_come,
            "__import__": functools.partial(self._importer.import_for, file),
            "breakpoint": lambda *args, **kwargs: None,
            "input": _an_image if self._program.is_script else _no_input,
        }
        vars(module).update(__file__=STUDENT_PREFIX + file, __builtins__={**vars(builtins), **own})
        return module

    def _run_statements(self, file: str, module: ModuleType) -> None:
        """One after the other; in a notebook, what lacks a name of a later cell is run after that."""
        todo = deque(self._program.statements[file])
        is_notebook, waiting = file not in self._program.parts[file], 0
        while todo:
            statement = todo.popleft()
            ahead = todo if is_notebook and waiting <= len(todo) else ()
            if self._run_statement(statement, module, ahead):
                waiting = 0
            else:
                waiting += 1
                todo.append(statement)

    def _run_statement(self, statement: Statement, module: ModuleType, ahead: Iterable[Statement]) -> bool:
        """The answer is False where it must wait for what statements ``ahead`` bind."""
        need = self._program.needs[statement]
        namespace = vars(module)
        if reason := self._reason_against(statement, need, namespace):
            self._leave_out(statement, namespace, reason)
            return True
        try:
            exec(self._code(statement, namespace), namespace)
        except BaseException as error:  # SystemExit too: grading goes on
            if isinstance(error, NameError) and any(error.name in one.binds for one in ahead):
                return False
            if need is Need.SCRIPT and getattr(error, "name", None) not in self._unbound:
                self._loaded.raised.append((statement, error))
                if self._is_step(statement, namespace):
                    self._loaded.stopped = statement, error
            self._fail(statement, namespace, self._explain(statement, error))
        else:
            self._set_constants(statement, namespace)
        return True

    def _reason_against(
        self, statement: Statement, need: Need, namespace: Mapping[str, object]
    ) -> str | None:
        """Why it is not run, if it is not."""
        if need is Need.SCRIPT and self._loaded.stopped:
            return f"not run: the script stopped at line {self._loaded.stopped[0].line}"
        if statement.code is None or need is Need.NOBODY:
            return NOT_NEEDED
        if need is Need.SCRIPT and self._program.trains:
            return None
        return cost(statement.node, need, namespace)

    def _code(self, statement: Statement, namespace: dict[str, object]) -> CodeType:
        """What is run: of a class whose base is not installed, the same with what stands in for that."""
        absent = self._absent - namespace.keys()
        if lacks_base(statement.node, absent, self._extended):
            return statement.code_of(with_stand_in(statement.node, absent, namespace))
        assert statement.code is not None
        return statement.code

    def _is_step(self, statement: Statement, namespace: Mapping[str, object]) -> bool:
        """Whether a statement makes something of computed tensors that a later one reads, as no plot does."""
        body = next(body for body in self._program.statements.values() if statement in body)
        later = {name for one in body[body.index(statement) + 1 :] for name in one.loads}
        reads = (namespace.get(name) for name in statement.loads)
        return bool(statement.binds & later) and any(isinstance(one, Tensor) for one in reads)

    def _set_constants(self, statement: Statement, namespace: dict[str, object]) -> None:
        for name in statement.binds if statement.constant else ():
            if isinstance(namespace.get(name), _CONSTANT):
                namespace[name] = self._constants.get(name, namespace[name])
                if statement.literal:
                    self._loaded.constants.setdefault(name, namespace[name])

    def _leave_out(self, statement: Statement, namespace: Mapping[str, object], reason: str) -> None:
        self._skip(statement, reason)
        frame = Frame(statement.file, statement.line)
        for name in statement.binds - namespace.keys():
            self._unbound[name] = NotLoaded(
                f"{name!r} is missing, because line {frame.line} was {reason}", frame
            )

    def _fail(self, statement: Statement, namespace: Mapping[str, object], failure: NotLoaded) -> None:
        self._skip(statement, failure.reason)
        if _is_of_layers(statement.node):
            self._loaded.undefined = self._loaded.undefined or failure
        self._failures.append((statement, failure))
        self._unbound.update(dict.fromkeys(statement.binds - namespace.keys(), failure))

    def _skip(self, statement: Statement, reason: str) -> None:
        text = statement.text[:TEXT_LENGTH]
        self._loaded.skipped.append(Skipped(statement.file, statement.line, text, reason))

    def _explain(self, statement: Statement, error: BaseException) -> NotLoaded:
        """Find the root of a failure, as far as it is known."""
        if isinstance(error, NotLoaded):
            return error
        if isinstance(error, NameError) and error.name in self._unbound:
            return self._unbound[error.name]
        frame = Frame(statement.file, statement.line)
        if package := _missing_package(error):
            self._absent |= statement.binds
            return NotLoaded(f"needs the package {package!r}, which is not installed", frame)
        innermost = next(iter(frames_of(error)), frame)
        return NotLoaded(f"{statement.text[:TEXT_LENGTH]!r} failed: {quoted(error)}", innermost)

    def _causes(self, has_model: bool) -> Iterator[NotLoaded]:
        """Yield what may stand in the way of a model, the likeliest first."""
        yield from (failure for statement, failure in self._failures if statement.is_definition)
        yield from self._program.broken.values()
        users = [one for body in self._program.statements.values() for one in body if one.is_definition]
        if has_model:
            users = [one for one in users if isinstance(one.node, ast.ClassDef)]
        used = {name for one in users for name in one.loads} | {"*"}
        for statement, failure in self._failures:
            if statement.defines and (statement.binds & used or not users):
                yield failure


def _lent(names: Iterable[str]) -> dict[str, object]:
    """What the module uses without importing it, so that the rest can run."""
    lent: dict[str, object] = {}
    for name in names:
        with suppress(ImportError):  # it is not installed, and the code says so where it needs it
            exec(USUAL[name], lent)
    lent.pop("__builtins__", None)
    return lent


def _is_of_layers(node: ast.stmt) -> bool:
    """Is it a class whose base is called a module, in torch or in what builds on it?"""
    return isinstance(node, ast.ClassDef) and any(
        "Module" in name for base in node.bases for name in names_in(base)
    )


def _defines_model(module: ModuleType) -> bool:
    return any(
        isinstance(value, type) and issubclass(value, nn.Module) and value.__module__ == module.__name__
        for value in vars(module).values()
    )


def _missing_package(error: BaseException | None) -> str | None:
    """Return the package that an exception, or one that led to it, says is not installed."""
    while error is not None:
        if isinstance(error, ModuleNotFoundError) and error.name:
            return error.name
        error = error.__cause__ or error.__context__
    return None


def _no_input(*prompt: object) -> str:
    raise EOFError("input() cannot be used while the code is checked")


def _an_image(*prompt: object) -> str:
    return "image.jpg"  # what a script would ask for; lent, if there is none
