"""The functions of a program: which names may stand in each, and what is stored and read of ``self``."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import cached_property

from .python_text import names_bound

_OF_MODULES = {"training"}  # attributes that any module has
_NAMES = 40  # of a function, of code that nobody has written by hand


@dataclass(frozen=True)
class Scope:
    """A function, with what ``self`` holds there."""

    function: ast.FunctionDef
    known: frozenset[str]  # names that it need not bind itself
    held: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()  # of what a call made, what no method but the constructor reads
    unread: tuple[str, ...] = ()  # of all that is held, what that does not read either
    lacking: tuple[str, ...] = ()  # in the constructor: what methods read of it, and nothing stores
    top: ast.stmt | None = None  # the class of a method

    def uses(self, name: str) -> list[tuple[int, int]]:
        """Where the methods of its class read an attribute, as lines and columns in their order."""
        every = (one for one in ast.walk(self.top or self.function) if isinstance(one, ast.Attribute))
        read = (one for one in every if held(one) == name and isinstance(one.ctx, ast.Load))
        return sorted((one.lineno, one.col_offset) for one in read)

    @cached_property
    def names(self) -> list[str]:
        """Of arguments and variables, in their order."""
        arguments = [one.arg for one in self.function.args.args if one.arg != "self"]
        return list(dict.fromkeys([*arguments, *(name for name, _ in self.stored)]))[:_NAMES]

    @cached_property
    def stored(self) -> list[tuple[str, int]]:
        """Variables, each with a line on which it is bound."""
        names = (one for one in ast.walk(self.function) if isinstance(one, ast.Name))
        return [(one.id, one.lineno) for one in names if isinstance(one.ctx, ast.Store)]

    @cached_property
    def idle(self) -> list[str]:
        """Variables that are bound here and never read, or not once they are bound for the last time."""
        names = (one for one in ast.walk(self.function) if isinstance(one, ast.Name))
        read = [(one.lineno, one.id) for one in names if isinstance(one.ctx, ast.Load)]
        last = {name: one.end_lineno or 0 for one in self.function.body for name in _assigned(one)}
        used = {name for line, name in read if line > last.get(name, 0)}
        return [name for name in self.first if name not in used and name.strip("_")][:_NAMES]

    @cached_property
    def first(self) -> dict[str, int]:
        """The line on which each variable is first bound; arguments have none."""
        found: dict[str, int] = {}
        for name, line in self.stored:
            found[name] = min(line, found.get(name, line))
        arguments = {one.arg for one in self.function.args.args}
        return {name: line for name, line in found.items() if name not in arguments}

    @cached_property
    def unbound(self) -> list[str]:
        """Names that are read here and bound nowhere."""
        names = (one for one in ast.walk(self.function) if isinstance(one, ast.Name))
        bound = {*self.names, *self.known, "self"}
        return list(dict.fromkeys(one.id for one in names if one.id not in bound))[:_NAMES]


def _assigned(statement: ast.stmt) -> set[str]:
    return set(names_bound(statement)) if isinstance(statement, ast.Assign) else set()


def scopes(tree: ast.Module) -> Iterator[Scope]:
    known = frozenset(dir(builtins)).union(*map(names_bound, tree.body))
    for top in tree.body:
        if isinstance(top, ast.FunctionDef):
            yield Scope(top, known)
        elif isinstance(top, ast.ClassDef):
            methods = [one for one in top.body if isinstance(one, ast.FunctionDef)]
            held = dict.fromkeys(attributes(top, ast.Store))
            made = _made(top)
            running = [one for one in methods if one.name != "__init__"]
            read = {name for one in running for name in attributes(one, ast.Load)}
            unused = tuple(name for name in held if name in made and name not in read)
            unread = tuple(name for name in held if name not in {*attributes(top, ast.Load)})
            lacking = tuple(sorted(_lacking(top, read - {*held})))
            yield from (
                Scope(one, known, (*held,), unused, unread, lacking if one.name == "__init__" else (), top)
                for one in methods
            )


def _lacking(tree: ast.ClassDef, read: set[str]) -> set[str]:
    """Of these, what its own code does not name at all: no method, say, nor what it inherits from torch."""
    bound = {name for one in tree.body for name in names_bound(one)}
    return read - bound - _OF_MODULES


def stored_for(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Pairs of lines: what is read of ``self`` on the first is stored on the second, or made there for it."""
    functions = {one.name: one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)}
    for one in (one for one in ast.walk(tree) if isinstance(one, ast.ClassDef)):
        read = [(held(node), node.lineno) for node in ast.walk(one) if isinstance(node, ast.Attribute)]
        for statement in (each for each in ast.walk(one) if isinstance(each, (ast.Assign, ast.Expr))):
            names = _stored(statement)
            called = (node.id for node in ast.walk(statement.value) if isinstance(node, ast.Name))
            making = [statement, *(functions[name] for name in called if name in functions)]
            lines = [line for name, line in read if name in names]
            yield from ((line, made) for line in lines for each in making for made in _lines(each))


def plainly_stored(tree: ast.Module, line: int) -> list[int]:
    """Where what is read of ``self`` on a line is stored in its class, if it is no layer and no parameter."""
    nodes = _of_class(tree, line)
    read = {held(node) for node in nodes if getattr(node, "lineno", 0) == line}
    return [one.lineno for one in _stores(nodes, read) if _has_call(one.value)]


def given_at(tree: ast.Module, name: str) -> list[int]:
    """Where ``self`` is given something of this name."""
    assigned = (one for one in ast.walk(tree) if isinstance(one, ast.Assign))
    return [one.lineno for one in assigned if name in _stored(one)]


def stored_to_be_called(tree: ast.Module, line: int) -> list[int]:
    """Where what is called of ``self`` on a line is stored in its class, if no call of a class makes it.

    What is used as a value elsewhere is what it should be, and called by mistake.
    """
    nodes = _of_class(tree, line)
    calls = [node for node in nodes if isinstance(node, ast.Call) and held(node.func)]
    functions = {node.func for node in calls}
    reads = (one for one in nodes if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Load))
    values = {held(one) for one in reads if one not in functions}
    called_there = {held(node.func) for node in calls if node.lineno == line} - values
    return [one.lineno for one in _stores(nodes, called_there)]


def _stores(nodes: Iterable[ast.AST], names: Set[str]) -> Iterator[ast.Assign]:
    """The statements among them that give ``self`` one of these, if no call of a class makes it."""
    assigned = (one for one in nodes if isinstance(one, ast.Assign) and _stored(one) & names)
    return (one for one in assigned if not makes_object(one.value))


def _of_class(tree: ast.Module, line: int) -> list[ast.AST]:
    """The parts of the class that a line is in."""
    classes = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and line in _lines(one)]
    return [node for one in classes[-1:] for node in ast.walk(one)]


def _has_call(value: ast.expr) -> bool:
    return any(isinstance(node, ast.Call) for node in ast.walk(value))


def _stored(statement: ast.Assign | ast.Expr) -> set[str]:
    """What ``self`` holds from there on, also as a buffer, by the name that it is registered by."""
    if isinstance(statement, ast.Assign):
        return {held(target) for target in statement.targets} - {""}
    call = statement.value
    if not isinstance(call, ast.Call) or not held(call.func) or not call.args:
        return set()
    name = call.args[0]
    return {name.value} if isinstance(name, ast.Constant) and isinstance(name.value, str) else set()


def bound_for(tree: ast.Module, line: int) -> list[int]:
    """Where the variables that are read on a line are bound in its function, the nearest line first."""
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and line in _lines(one)]
    names = [one for each in functions[-1:] for one in ast.walk(each) if isinstance(one, ast.Name)]
    read = {one.id for one in names if one.lineno == line and isinstance(one.ctx, ast.Load)}
    bound = {one.lineno for one in names if one.id in read and isinstance(one.ctx, ast.Store)}
    return sorted(bound - {line}, key=lambda one: abs(line - one))


def _lines(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _made(tree: ast.ClassDef) -> set[str]:
    """What ``self`` holds that a call made, such as a layer or a parameter."""
    calls = (one for one in ast.walk(tree) if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call))
    return {held(target) for one in calls for target in one.targets}


def attributes(tree: ast.AST, context: type[ast.expr_context]) -> list[str]:
    """Of ``self``, those that are stored, or read."""
    found = (one for one in ast.walk(tree) if isinstance(getattr(one, "ctx", None), context))
    return [name for one in found if (name := held(one))]


def held(node: ast.AST) -> str:
    """``norm1`` of ``self.norm1``."""
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"
    return node.attr if own and isinstance(node, ast.Attribute) else ""


def name_of(node: ast.AST) -> str:
    """``x``, or ``self.norm``; "" of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    return f"self.{own}" if (own := held(node)) else ""


def receiver(call: ast.Call) -> str:
    """What a method is called of; "" for a function."""
    return name_of(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def makes_object(node: ast.AST | None) -> bool:
    """Is a class called, as for a layer or a parameter?"""
    return called(node)[:1].isupper()


def called(node: ast.AST | None) -> str:
    """``softmax`` of ``F.softmax(x)``; "" where nothing is called, or what has no name."""
    return last_name(node.func) if isinstance(node, ast.Call) else ""


def last_name(node: ast.AST) -> str:
    """``Module`` of ``nn.Module``, and a name itself; "" of anything else."""
    name: str = getattr(node, "attr", getattr(node, "id", ""))
    return name
