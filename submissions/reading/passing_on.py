"""Code that is not written yet, made to give back what it is given: then what stands behind it is seen."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from ..errors import Frame
from .code import texts
from .code_scopes import held, name_of
from .python_text import nodes
from .stand_ins import is_layer, layers_given, stand_ins, variables_to_come
from .to_do import or_below, to_do
from .unwritten import early_ends, gives_nothing, is_placeholder, last_of, stands_for_more

_IDENTITY = b"__import__('torch').nn.Identity()"
_METHODS_OF_PASSES = "forward", "__call__"
_Span = tuple[int, int, int, int]


def gaps_passed_on(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files, in which functions that are not written yet give back the first thing that they are given.

    Attributes that stand for layers are layers that do so. No line moves. The files are as they were where
    there is nothing of the kind.
    """
    changed = {**files}
    for file, text in texts(files):
        lines = text.encode().split(b"\n")
        for span, new in sorted(_changes(text), reverse=True):
            _put(lines, span, new)
            changed[file] = b"\n".join(lines)
    return changed


def where_passed_on(files: Mapping[str, bytes]) -> set[Frame]:
    """The lines that are changed or give back what they are given, and those that read such an attribute."""
    changed = {Frame(file, span[0]) for file, text in texts(files) for span, _ in _changes(text)}
    return changed.union(early_ends(files)) | {
        Frame(file, line) for file, text in texts(files) for line in _reading(text)
    }


def _reading(text: str) -> Iterator[int]:
    """The lines that read what stands for a layer in their class, or call a layer that it is given."""
    lines = or_below(to_do(text), text)
    for one in (one for one in nodes(text) if isinstance(one, ast.ClassDef)):
        yield from chain.from_iterable(layers_given(one).values())
        names = stand_ins(one, lines).keys()
        read = (each for each in ast.walk(one) if isinstance(each, ast.Attribute))
        yield from (each.lineno for each in read if held(each) in names)


def _changes(text: str) -> Iterator[tuple[_Span, bytes]]:
    lines = or_below(to_do(text), text)
    return chain.from_iterable(_changes_in(one, lines) for one in nodes(text))


def _changes_in(one: ast.AST, lines: Collection[int]) -> Iterator[tuple[_Span, bytes]]:
    """What is to be put where: first and last line, from 1, and column."""
    if isinstance(one, ast.ClassDef):
        layers = (made.value for made in stand_ins(one, lines).values() if is_layer(made.value))
        yield from ((_span(value), _IDENTITY) for value in layers)
    elif isinstance(one, ast.Module):
        called = {name_of(each.func) for each in ast.walk(one) if isinstance(each, ast.Call)}
        to_come = variables_to_come(one).items()
        yield from ((_span(made.value), _IDENTITY) for name, made in to_come if name in called)
    elif isinstance(one, ast.FunctionDef) and (given := _given(one)):
        last = last_of(one)
        back = f"return {given}".encode()
        if _is_open(one, last):
            yield _span(last), back
        elif one.name in _METHODS_OF_PASSES and isinstance(last, (ast.Assign, ast.AugAssign, ast.Expr)):
            line, column = _span(last)[2:]
            yield (line, column, line, column), b"; " + back


def _is_open(function: ast.FunctionDef, last: ast.stmt) -> bool:
    """Does it end in what stands for more, or in nothing but what it is to do?"""
    is_nothing = isinstance(last, ast.Return) and (not _is_value(last) or gives_nothing(function))
    is_told = len(function.body) == 1 and isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant)
    return is_nothing or is_told or is_placeholder(last) or stands_for_more(last)


def _given(function: ast.FunctionDef) -> str:
    """The first thing that it is given, beside its object; "" where it is none, or gives something back."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] == ["self"] else names
    is_special = function.name.startswith("__") and function.name not in _METHODS_OF_PASSES
    values = [one for one in ast.walk(function) if isinstance(one, ast.Return) and _is_value(one)]
    returns = values and not (values == function.body[-1:] and gives_nothing(function))
    return names[0] if names and not is_special and not returns else ""


def _is_value(one: ast.Return) -> bool:
    is_nothing = one.value is None or (isinstance(one.value, ast.Constant) and one.value.value in (None, ...))
    return not is_nothing


def _span(node: ast.stmt | ast.expr) -> _Span:
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _put(lines: list[bytes], span: _Span, new: bytes) -> None:
    first, start, last, end = span
    rest = lines[last - 1][end:]
    lines[first - 1] = lines[first - 1][:start] + new + (rest if first == last else b"")
    lines[first:last] = [b""] * (last - first)
