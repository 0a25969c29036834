"""The lines of comments that say that something is to be done."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from .code import texts
from .code_scopes import held
from .python_text import comments, nodes, tree

_SAID = (
    r"to[ -]?do|to (write|come|be written|fill in)|(not|no|isn't) (\w+ )?yet|still missing|placeholder|fixme",
    r"[àa] (faire|écrire|fazer)|da (fare|scrivere)|(por|para) (hacer|fazer)|falta (la|el|por|\w+[aei]r)\b",
    r"pendiente|(fehlt|kommt) noch|未完成|未実装|待办",
)
_TO_DO = re.compile(r"\b(" + "|".join(_SAID) + ")", re.IGNORECASE)
_FEW_WORDS = 6  # of which the sign of a comment is one
_NO_CODE = re.compile(r"#|return \w+$")

_GIVES = (ast.Return, ast.Yield, ast.YieldFrom)


def to_do(text: str) -> set[int]:
    """The lines of comments that say that something is to be done."""
    return {line for line, said in comments(text) if _TO_DO.search(said)} if _TO_DO.search(text) else set()


def or_below(lines: Collection[int], text: str) -> set[int]:
    """These lines of comments, and those right below a comment that has a line of its own."""
    written = text.splitlines()
    return {*lines} | {one + 1 for one in lines if written[one - 1].lstrip().startswith("#")}


def is_left_within(files: Mapping[str, bytes]) -> bool:
    """Is something to be done in a function, before its last line?"""
    return any(
        _is_within(one, line)
        for _, text in texts(files)
        for line in to_do(text) | _drafts(text)
        for one in _functions(text)
    )


def noted(files: Mapping[str, bytes]) -> list[str]:
    """The comments of functions that return nothing, but for constructors: notes of what is to come."""
    found: list[str] = []
    for _, text in texts(files):
        functions = [one for one in _functions(text) if one.name != "__init__" and not _gives(one)]
        within = (said for line, said in comments(text) if any(_is_within(one, line) for one in functions))
        found += map(str.lower, within)
    return found


def without_code(files: Mapping[str, bytes]) -> list[str]:
    """The short comments in functions behind which no code stands but a return of what there is so far."""
    found: list[str] = []
    for _, text in texts(files):
        written, functions = text.splitlines(), [*_functions(text)]
        short = ((line, said) for line, said in comments(text) if len(said.split()) <= _FEW_WORDS)
        alone = ((line, said) for line, said in short if _stands_alone(written, line))
        found += (said.lower() for line, said in alone if any(_is_within(one, line) for one in functions))
    return found


def _stands_alone(written: Sequence[str], line: int) -> bool:
    below = next((one.strip() for one in written[line:] if one.strip()), "")
    return written[line - 1].lstrip().startswith("#") and bool(_NO_CODE.match(below))


def _functions(text: str) -> Iterator[ast.FunctionDef]:
    return (one for one in nodes(text) if isinstance(one, ast.FunctionDef))


def _is_within(function: ast.FunctionDef, line: int) -> bool:
    """Before its last line."""
    return function.lineno < line < function.body[-1].lineno


def _gives(function: ast.FunctionDef) -> bool:
    """Does it return anything, as far as its code tells?"""
    return any(isinstance(one, _GIVES) for one in ast.walk(function))


def _drafts(text: str) -> set[int]:
    """The lines of comments that are code, and use what no object has yet: ``# x = x + self.attn(x)``."""
    kept = {one.attr for one in nodes(text) if isinstance(one, ast.Attribute)}
    return {line for line, said in comments(text) if _used_in(said.lstrip("# ")) - kept}


def _used_in(said: str) -> set[str]:
    """The attributes of an object that a line reads, if it is one of Python, or what is behind a colon is."""
    whole = said.partition("<-")[0] if "self." in said else ""
    code = tree(whole) or tree(whole.partition(": ")[2])
    return set() if code is None else {*map(held, ast.walk(code))} - {""}
