"""Every regular expression of the package, and texts that slow ones take for ever with."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

import vitcheck

_CALLS = {"compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer"}
_PIECES = (
    *" \t\n,.-_aSxq019()[]{}#%!?=:/\\*+×·'\"|é²\0\u00a0",
    *("a ", "1 ", "1,", "1, ", "a.", "1.", "S1 ", "S1,", "S1-", "(1", "[1,", "1x", "1 x ", "a+", "# ", "a_"),
    *("\n ", " \n", "\n\n", "to ", "at ", "stage ", "breakpoint ", "(1,1", "a=", "drop", "drop=0", "0.0"),
)
_BEFORE = ("", "(", "# breakpoint S9")
_AFTER = "!"


def modules() -> Iterator[ModuleType]:
    """Every module of the package that can be imported beside the others."""
    for found in pkgutil.walk_packages(vitcheck.__path__, "vitcheck."):
        if ".suite." not in found.name and not found.name.endswith(("__main__", "versions", "env")):
            yield importlib.import_module(found.name)


def patterns() -> dict[str, re.Pattern[str]]:
    """Each by its text: what a module keeps, and what is written out in its functions."""
    found: dict[str, re.Pattern[str]] = {}
    for module in modules():
        for one in (*_kept(vars(module).values()), *_written(module)):
            found[f"{module.__name__}: {one.pattern}"] = one
    return found


def _kept(values: Iterable[object]) -> Iterator[re.Pattern[str]]:
    for one in values:
        if isinstance(one, re.Pattern):
            yield one if isinstance(one.pattern, str) else re.compile(one.pattern.decode(), one.flags & ~re.A)
        elif isinstance(one, (tuple, list)):
            yield from _kept(one)
        elif isinstance(one, dict) and not any(isinstance(key, str) and key[:2] == "__" for key in one):
            yield from _kept(one.values())


def _written(module: ModuleType) -> Iterator[re.Pattern[str]]:
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and _is_of_re(node.func) and isinstance(node.args[0], ast.Constant):
            text = node.args[0].value
            if isinstance(text, str):
                yield re.compile(text)


def _is_of_re(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=ast.Name(id="re"), attr=name):
            return name in _CALLS
    return False


def hostile(length: int) -> Iterator[str]:
    """Texts of about ``length`` characters that repeat something, and end otherwise."""
    for piece in _PIECES:
        for before in _BEFORE:
            yield before + piece * (length // len(piece)) + _AFTER


def run(pattern: re.Pattern[str], text: str) -> None:
    """Begin anywhere, and fail: all else takes less."""
    pattern.fullmatch(text)
    pattern.sub("", text)


def main(length: str) -> None:
    """Print the name of each pattern before it has its turn."""
    texts = list(hostile(int(length)))
    for name, pattern in patterns().items():
        print(repr(name), flush=True)
        for text in texts:
            run(pattern, text)


if __name__ == "__main__":
    main(*sys.argv[1:])
