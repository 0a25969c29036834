"""Programs cut behind one of their lines, as those are that somebody is still writing."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from vitcheck.submissions.errors import Frame

# What stands where the rest is to come: x is what the method was given, as it was given.
ENDINGS = ("raise NotImplementedError", "...", "pass", "return {x}")
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)


def cut_behind(files: Mapping[str, bytes], frames: Sequence[Frame], ending: str) -> dict[str, bytes] | None:
    """The files, in which the function that made a tensor on these lines, innermost first, ends behind that.

    Where the function ends there anyway, it is the one that called it. None where nothing comes behind, and
    where the ending says what the function does not have.
    """
    for frame in (one for one in frames if one.file in files):
        text = files[frame.file].decode()
        found = _innermost(ast.parse(text), frame.line)
        if found is not None and (last := _last_before_more(*found)) is not None:
            shorter = _ended(text, found[0], last, ending)
            return None if shorter is None else {**files, frame.file: shorter.encode()}
    return None


def _innermost(tree: ast.Module, line: int) -> tuple[ast.FunctionDef, list[ast.stmt]] | None:
    """The function that this line is in, and the statements that it is in, from the outermost."""
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and _has(one, line)]
    functions = [one for one in functions if one.name != "__init__"]
    if not functions:
        return None
    function = max(functions, key=lambda one: one.lineno)
    return function, list(_around(function.body, line))


def _around(body: Sequence[ast.stmt], line: int) -> Iterator[ast.stmt]:
    for one in body:
        if _has(one, line):
            yield one
            for inner in (getattr(one, "body", []), getattr(one, "orelse", [])):
                yield from _around(inner, line)


def _has(node: ast.stmt, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _last_before_more(function: ast.FunctionDef, around: Sequence[ast.stmt]) -> ast.stmt | None:
    """The innermost of these statements that another one comes behind: a loop runs to its end."""
    if not around or isinstance(around[-1], ast.Return):
        return None
    bodies: list[list[ast.stmt]] = [function.body, *(getattr(one, "body", []) for one in around[:-1])]
    for body, one in reversed(list(zip(bodies, around, strict=True))):
        if one in body and one is not body[-1]:
            return one
    return None


def _assigned(function: ast.FunctionDef) -> set[str]:
    names = (one for one in ast.walk(function) if isinstance(one, ast.Name))
    return {one.id for one in names if isinstance(one.ctx, ast.Store)}


def _ended(text: str, function: ast.FunctionDef, last: ast.stmt, ending: str) -> str | None:
    own, *given = [one.arg for one in function.args.args] or [""]
    if "{x}" in ending and (own != "self" or not given or given[0] in _assigned(function)):
        return None
    lines = text.split("\n")
    assert last.end_lineno is not None
    assert function.end_lineno is not None
    written = " " * last.col_offset + ending.format(x=(given or [""])[0])
    shorter = "\n".join([*lines[: last.end_lineno], written, *lines[function.end_lineno :]])
    return shorter if shorter != text else None
