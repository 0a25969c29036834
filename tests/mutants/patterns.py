"""Code found by its shape: a pattern is Python in which a single capital stands for any expression.

``F.softmax(S, dim=A)`` finds every call of a function softmax, whatever it is called on; ``(P := Q @ K) / M``
also gives what is divided a name. What a pattern finds as a whole is W.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TypeAlias

Bindings: TypeAlias = Mapping[str, ast.AST | str]  # text stands for itself

_PLACEHOLDER = re.compile(r"\b[A-Z]\b")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.stmt)
_IGNORED = {"ctx", "type_comment", "kind"}


@cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def find(patterns: Sequence[str], scope: ast.AST) -> list[Bindings]:
    """What matches one of ``patterns`` in ``scope``, in the order of the code."""
    found: dict[tuple[int, int, int], Bindings] = {}
    for pattern in map(_shape, patterns):
        for node in _nodes(scope).get(type(pattern), ()):
            bound: dict[str, ast.AST | str] = {"W": node}
            if _matches(pattern, node, bound):
                found.setdefault(_position(node), bound)
    return [found[position] for position in sorted(found)]


@cache
def _nodes(scope: ast.AST) -> Mapping[type[ast.AST], Sequence[ast.AST]]:
    kinds = defaultdict[type[ast.AST], list[ast.AST]](list)
    for node in ast.walk(scope):
        kinds[type(node)].append(node)
    return kinds


@cache
def _shape(pattern: str) -> ast.AST:
    (statement,) = ast.parse(pattern).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def _position(node: ast.AST) -> tuple[int, int, int]:
    assert isinstance(node, (ast.expr, ast.stmt))
    return node.lineno, node.col_offset, -(node.end_col_offset or 0)


def _matches(pattern: object, node: object, bound: dict[str, ast.AST | str]) -> bool:
    if isinstance(pattern, ast.NamedExpr):
        return _matches(pattern.value, node, bound) and _matches(pattern.target, node, bound)
    if isinstance(pattern, ast.Name) and _PLACEHOLDER.fullmatch(pattern.id) and isinstance(node, ast.expr):
        before = bound.setdefault(pattern.id, node)
        return before is node or (isinstance(before, ast.AST) and ast.unparse(before) == ast.unparse(node))
    if isinstance(pattern, ast.AST):
        return type(pattern) is type(node) and all(
            _matches(value, getattr(node, field), bound)
            for field, value in ast.iter_fields(pattern)
            if field not in _IGNORED
        )
    if isinstance(pattern, list):
        return (
            isinstance(node, list)
            and len(node) == len(pattern)
            and all(_matches(one, other, bound) for one, other in zip(pattern, node, strict=True))
        )
    return pattern == node


def scope_of(text: str, name: str) -> ast.AST:
    """The class or function with the dotted ``name`` in ``text``; the whole where it is empty."""
    scope: ast.AST = parsed(text)
    for part in filter(None, name.split(".")):
        scope = next(one for one in _definitions(scope) if one.name == part)
    return scope


def _definitions(scope: ast.AST) -> Iterator[ast.ClassDef | ast.FunctionDef]:
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            yield node


def filled(template: str, bound: Bindings, text: str) -> str | None:
    """``template`` with the code that its capitals are bound to; None if one is not, or is called twice."""
    letters = _PLACEHOLDER.findall(template)
    if any(letter not in bound for letter in letters):
        return None
    if any(letters.count(letter) > 1 and _calls(bound[letter]) for letter in letters):
        return None  # nobody writes it so
    return _PLACEHOLDER.sub(lambda place: _code(bound[place.group()], text), template)


def _calls(node: ast.AST | str) -> bool:
    return isinstance(node, ast.AST) and any(isinstance(one, ast.Call) for one in ast.walk(node))


def _code(node: ast.AST | str, text: str) -> str:
    if isinstance(node, str):
        return node
    start, end = _span(node, text)
    return text[start:end] if isinstance(node, _ATOMS) else f"({text[start:end]})"


def replaced(text: str, changes: Sequence[tuple[ast.AST, str]]) -> str:
    """``text`` with other code for each of the nodes; further lines are indented as the node is."""
    spans = sorted(((*_span(node, text), code) for node, code in changes), reverse=True)
    for start, end, code in spans:
        line = text[text.rfind("\n", 0, start) + 1 :]
        indent = line[: len(line) - len(line.lstrip(" "))]
        if text[end : end + 1] in (".", "["):
            code = f"({code})"
        text = text[:start] + code.replace("\n", "\n" + indent) + text[end:]
    return text


def _span(node: ast.AST, text: str) -> tuple[int, int]:
    """From where to where ``node`` stands in ``text``, which is ASCII."""
    assert isinstance(node, (ast.expr, ast.stmt))
    starts = _line_starts(text)
    end_line, end_column = node.end_lineno or 0, node.end_col_offset or 0
    return starts[node.lineno - 1] + node.col_offset, starts[end_line - 1] + end_column


@cache
def _line_starts(text: str) -> Sequence[int]:
    return [0, *accumulate(map(len, text.splitlines(keepends=True)))]
