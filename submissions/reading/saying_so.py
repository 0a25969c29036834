"""Code that is not written yet is said to be so in many ways: in a tree they are all made one."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

_NOT_IMPLEMENTED = "NotImplementedError"
_ANSWERS = (ast.Return, ast.Yield, ast.YieldFrom)


def saying_so(module: ast.Module) -> ast.Module:
    """Have functions that can only fail, and constructors that are empty, raise NotImplementedError.

    That is ``assert False``, or an exception of Python's own with nothing but text, at the end of a function
    that returns nothing; and a constructor of a derived class that holds three dots or ``pass`` alone.
    """
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            message = _message(node.body[-1])
            # few functions end so, and only those are looked through
            if message is not None and not any(isinstance(one, _ANSWERS) for one in ast.walk(node)):
                _say_so(node.body, message)
        if isinstance(node, ast.ClassDef) and node.bases and not node.decorator_list:
            for method in _constructors(node):
                _say_so(method.body, [])
    return module


def _say_so(body: list[ast.stmt], message: list[ast.expr]) -> None:
    name = ast.Name(_NOT_IMPLEMENTED, ast.Load())
    raised = ast.Raise(ast.Call(name, message, []) if message else name, None)
    body[-1] = ast.fix_missing_locations(ast.copy_location(raised, body[-1]))


def _message(last: ast.stmt) -> list[ast.expr] | None:
    """What a statement says that can only fail; None for others."""
    if isinstance(last, ast.Assert) and isinstance(last.test, ast.Constant) and not last.test.value:
        return [last.msg] if last.msg else []
    match last:
        case ast.Raise(exc=ast.Name(id=name)):
            said: list[ast.expr] = []
        case ast.Raise(exc=ast.Call(func=ast.Name(id=name), args=said, keywords=[])):
            pass
        case _:
            return None
    is_told = name in vars(builtins) and all(isinstance(one, ast.Constant) for one in said)
    return said if is_told else None


def _constructors(one: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Those in which nothing is written, not even a call of that of the class above."""
    methods = (method for method in one.body if isinstance(method, ast.FunctionDef))
    return (each for each in methods if each.name == "__init__" and all(map(_is_nothing, each.body)))


def _is_nothing(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(statement, ast.Pass) or isinstance(value, ast.Constant)
