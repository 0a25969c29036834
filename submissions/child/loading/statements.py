"""Which top-level statements of a student's file are run, so that its classes can be used.

Imports, definitions and literals are always run. Any other assignment is run only if a definition refers to a
name that it binds, directly or by way of other statements. All else (training loops, calls, plots, the script
part under ``if __name__ == "__main__"``) is never run; of an ``if``, ``try`` or ``with`` the imports,
definitions and assignments are kept.
"""

from __future__ import annotations
import __future__

import ast
import dis
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from types import CodeType, MappingProxyType
from typing import Any

from ...reading.code import STUDENT_PREFIX
from ...reading.code_scopes import last_name
from ...reading.python_text import DEFINITIONS, base_name, names_bound, parse
from .hoisting import top_level


class Need(Enum):
    """Who needs a statement."""

    ALWAYS = auto()
    MODEL = auto()  # a class that may be the model, or a part of it
    OTHER = auto()  # only functions, and classes that are no model
    SCRIPT = auto()  # a file that is run from top to bottom
    NOBODY = auto()


@dataclass(frozen=True, eq=False)
class Statement:
    """A top-level statement; ``code`` is None where it is never run."""

    file: str
    line: int
    text: str  # its first line
    node: ast.stmt
    code: CodeType | None
    binds: frozenset[str]  # the names that it binds or changes
    loads: frozenset[str]  # the global names that it, and every function in it, reads

    @property
    def defines(self) -> bool:
        """Whether it is or holds an import or a definition, or names a function: ``T = lambda …``."""
        is_named = isinstance(self.node, ast.Assign) and isinstance(self.node.value, ast.Lambda)
        return is_named or any(isinstance(node, _DEFINING) for node in ast.walk(self.node))

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, (ast.Import, ast.ImportFrom))

    @property
    def is_definition(self) -> bool:
        return isinstance(self.node, DEFINITIONS)

    def code_of(self, node: ast.stmt) -> CodeType:
        """What runs where ``node`` stands in its place."""
        assert self.code is not None
        return _compiled(node, self.file, self.code.co_flags & __future__.annotations.compiler_flag)

    @property
    def literal(self) -> bool:
        """Whether it binds names to a value written out in the code."""
        return self._binds_to(_LITERAL)

    @property
    def constant(self) -> bool:
        """Whether it binds names to a literal or to an expression of literals and other names."""
        return self._binds_to((*_LITERAL, ast.Name))

    def _binds_to(self, kinds: tuple[type[ast.AST], ...]) -> bool:
        value = self.node.value if isinstance(self.node, (ast.Assign, ast.AnnAssign)) else None
        return value is not None and all(isinstance(node, kinds) for node in ast.walk(value))


_DEFINING = (ast.Import, ast.ImportFrom, *DEFINITIONS)
_ASSIGNING = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_COMPOUND = (ast.If, ast.Try, ast.With)
_LITERAL = (
    *(ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict),
    *(ast.UnaryOp, ast.BinOp, ast.unaryop, ast.operator, ast.expr_context),
)
_MUTATORS = {
    *("add", "add_argument", "append", "extend", "insert", "register", "set_defaults", "setdefault"),
    "update",
}
_NO_MODEL = {
    "ABC",
    "Callback",
    "Dataset",
    "Enum",
    "IterableDataset",
    "NamedTuple",
    "Sampler",
    "TypedDict",
    "object",
}
_GLOBAL_READS = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}


def read_statements(
    file: str, text: str, whole: bool = False, numbers: Mapping[int, int] = MappingProxyType({})
) -> list[Statement]:
    """List the top-level statements of plain Python, where an import of several names counts as several.

    Where all classes stand inside functions, what stands beside them is of the top level, too. As a
    ``whole``, every statement is run, those under ``if __name__ == "__main__":`` in its place. Each of the
    whole ``numbers`` that is written out in the code is replaced. Raises SyntaxError, and on absurd code
    ValueError, RecursionError or MemoryError.
    """
    tree = parse(text, STUDENT_PREFIX + file)
    for node in ast.walk(tree) if numbers else ():
        if isinstance(node, ast.Constant) and type(node.value) is int:
            node.value = numbers.get(node.value, node.value)
    lines = text.split("\n")
    flags = _future_flags(tree)
    body = [inner for one in tree.body for inner in unguarded(one)] if whole else top_level(tree)
    return [
        _statement(file, lines, node, node if whole else _runnable(node), flags)
        for one in body
        for node in _split(one)
        if not _is_silent(node)
    ]


def unguarded(node: ast.stmt) -> list[ast.stmt]:
    """Return the statements under ``if __name__ == "__main__":``, or the statement itself if it is none."""
    return node.body if isinstance(node, ast.If) and _is_script_guard(node) else [node]


def _statement(
    file: str, lines: Sequence[str], written: ast.stmt, node: ast.stmt | None, flags: int
) -> Statement:
    text = lines[written.lineno - 1].strip()
    if node is None:
        return Statement(file, written.lineno, text, written, None, bound(written), frozenset())
    code = _compiled(node, file, flags)
    return Statement(file, written.lineno, text, node, code, bound(node), frozenset(_loaded(code)))


def _compiled(node: ast.stmt, file: str, flags: int) -> CodeType:
    code: CodeType = compile(ast.Module([node], []), STUDENT_PREFIX + file, "exec", flags, dont_inherit=True)
    return code


def _future_flags(tree: ast.Module) -> int:
    flags = 0
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            for alias in node.names:
                flags |= getattr(getattr(__future__, alias.name, None), "compiler_flag", 0)
    return flags


def _split(node: ast.stmt) -> Iterator[ast.stmt]:
    """Take an import statement name by name, so that one missing package costs one name."""
    if isinstance(node, ast.Import):
        yield from (ast.copy_location(ast.Import([alias]), node) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), node)
    else:
        yield node


def _is_silent(node: ast.stmt) -> bool:
    """Whether nobody would miss it: a docstring, ``pass``, ``...``."""
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def _runnable(node: ast.stmt) -> ast.stmt | None:
    """Return what of a statement may be run at all."""
    if isinstance(node, (*_DEFINING, *_ASSIGNING)) or _mutated(node):
        return node
    if not isinstance(node, _COMPOUND) or (isinstance(node, ast.If) and _is_script_guard(node)):
        return None
    trimmed: ast.stmt = _Trim().visit(node)
    kept = any(isinstance(inner, (*_DEFINING, *_ASSIGNING)) for inner in ast.walk(trimmed))
    return trimmed if kept else None


def _is_script_guard(node: ast.If) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == "__name__" for inner in ast.walk(node.test))


class _Trim(ast.NodeTransformer):
    """Keeps of a compound statement what binds names, and ``raise``, by which a failed import may be told."""

    def generic_visit(self, node: ast.AST) -> Any:  # None leaves the node out
        if isinstance(node, (*_DEFINING, *_ASSIGNING, ast.Raise)):
            return node
        if isinstance(node, ast.stmt) and not isinstance(node, _COMPOUND):
            return None
        super().generic_visit(node)
        if isinstance(node, (*_COMPOUND, ast.ExceptHandler)) and not node.body:
            node.body = [ast.copy_location(ast.Pass(), node)]
        return node


def bound(node: ast.stmt) -> frozenset[str]:
    """The names that it binds, or changes what they stand for, also by a call."""
    return frozenset(names_bound(node) | ({_mutated(node)} - {""}))


def _mutated(node: ast.stmt) -> str:
    """``parser`` of ``parser.add_argument(…)``: such a call is as good as an assignment.

    So is a call of what that gives: ``NORMS.register("ln")(…)``, which is no decorator.
    """
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Call):
        call = call.func
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _MUTATORS:
        return base_name(call.func.value)
    return ""


def _loaded(code: CodeType) -> set[str]:
    names = {one.argval for one in dis.get_instructions(code) if one.opname in _GLOBAL_READS}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _loaded(constant)
    return names


def needs(modules: Mapping[str, Sequence[Statement]]) -> dict[Statement, Need]:
    """Who needs each statement of a submission, by the statements of each of its modules."""
    asked = {module: _asked(statements) for module, statements in modules.items()}
    found: dict[Statement, Need] = {}
    for module, statements in modules.items():
        outside = {name for other, names in asked.items() if other != module for name in names}
        for_model = _reached(statements, outside, _may_be_model)
        for_other = _reached(statements, set(), lambda statement: statement.defines)
        for statement in statements:
            found[statement] = _need(statement, for_model, for_other)
    return found


def _need(statement: Statement, for_model: set[str], for_other: set[str]) -> Need:
    if statement.code is None:
        return Need.NOBODY
    if statement.defines or statement.literal:
        return Need.ALWAYS
    if statement.binds & for_model:
        return Need.MODEL
    return Need.OTHER if statement.binds & for_other else Need.NOBODY


def _reached(
    statements: Sequence[Statement], names: Iterable[str], is_root: Callable[[Statement], bool]
) -> set[str]:
    """``names``, the names that root statements bind and load, and all that these are made from."""
    by_name: dict[str, list[Statement]] = {}
    for statement in statements:
        for name in statement.binds:
            by_name.setdefault(name, []).append(statement)
    todo = set(names).union(*(one.binds | one.loads for one in statements if is_root(one)))
    reached: set[str] = set()
    while todo:
        name = todo.pop()
        reached.add(name)
        todo |= set().union(*(one.loads for one in by_name.get(name, ()))) - reached
    return reached


def _may_be_model(statement: Statement) -> bool:
    """Whether it holds a class with a base that is not known to be something else."""
    return any(
        isinstance(base, (ast.Name, ast.Attribute)) and last_name(base) not in _NO_MODEL
        for node in ast.walk(statement.node)
        if isinstance(node, ast.ClassDef)
        for base in node.bases
    )


def _asked(statements: Sequence[Statement]) -> set[str]:
    """Collect the names that a module may want from other modules of the submission."""
    nodes = [node for statement in statements for node in ast.walk(statement.node)]
    aliases = [alias for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names]
    names = {alias.name for alias in aliases}
    bound = {alias.asname or alias.name.partition(".")[0] for node in nodes for alias in _aliases(node)}
    names |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and base_name(node) in bound}
    if "*" in names:
        names = names.union(*(statement.loads for statement in statements))
    return names


def _aliases(node: ast.AST) -> list[ast.alias]:
    return node.names if isinstance(node, (ast.Import, ast.ImportFrom)) else []
