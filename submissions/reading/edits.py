"""Small changes of a program: what might stand in the place of one operator, name, number, call or statement.

They undo the slips that people make: a sign, an axis, a variable of a similar name, a line too many, a layer
that is never called. Nothing here executes student code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from typing import Literal

from .code_scopes import Scope, called, held, makes_object, scopes
from .python_text import tree as python_tree

Kind = Literal["operator", "variable", "layer", "number", "order", "extra", "kept", "missing"]

_OPERATORS: dict[type[ast.operator], tuple[str, tuple[str, ...]]] = {  # as written, and what is taken for it
    ast.Add: ("+", ("*", "-")),
    ast.Sub: ("-", ("+",)),
    ast.Mult: ("*", ("/", "+", "@")),
    ast.Div: ("/", ("*",)),
    ast.MatMult: ("@", ("*",)),
}
_ORDERED = (ast.Sub, ast.Div, ast.MatMult)  # whose sides cannot be exchanged
_AXES = (-1, -2, 1, 2, 0, 3)
_TAKES_AXES = {
    "transpose", "permute", "swapaxes", "movedim", "softmax", "log_softmax", "cat", "concat", "stack", "mean",
    "sum", "max", "var", "std", "flatten", "unflatten", "chunk", "split", "squeeze", "unsqueeze", "size",
}  # fmt: skip
_STEPS = ("[:, 0]", ".transpose(1, 2)", ".softmax(dim=-1)")  # that are left out
_AXIS_NAMES = ("dim", "axis", "dims", "dim0", "dim1", "start_dim", "end_dim")
# What is looked at of code that nobody has written by hand.
_MOST = 20_000  # changes of one file
_LONGEST = 2_000  # bytes of what is changed


@dataclass(frozen=True)
class Edit:
    """One piece of a program, and what might stand there instead; ``start`` and ``end`` count bytes.

    It is ``telling`` where it uses what nothing in the program does, and more so in place of a mere copy.
    """

    file: str
    kind: Kind
    line: int  # from 1
    column: int  # from 1
    start: int
    end: int
    old: str
    new: str
    telling: int = 0

    def applied(self, text: str) -> str:
        """The program with the change in it."""
        raw = text.encode()
        return (raw[: self.start] + self.new.encode() + raw[self.end :]).decode()


def edits(file: str, text: str) -> list[Edit]:
    """Small changes of what functions and methods in ``text`` do; none where it is no Python.

    Of what nobody has written by hand there are no more than 20,000.
    """
    tree = python_tree(text)
    if tree is None:
        return []
    found = (one for scope in scopes(tree) for one in _Editor(file, text, scope).edits())
    return [one for one in dict.fromkeys(islice(found, _MOST)) if one.old != one.new]


class _Editor:
    """The changes of one function."""

    def __init__(self, file: str, text: str, scope: Scope) -> None:
        self.file, self.raw, self.scope = file, text.encode(), scope
        self.starts = list(accumulate((len(line) + 1 for line in self.raw.split(b"\n")), initial=0))
        inside = ((child, one) for one in ast.walk(scope.function) for child in ast.iter_child_nodes(one))
        self.parents = dict(inside)

    def edits(self) -> Iterator[Edit]:
        for statement in self.scope.function.body:
            for node in ast.walk(statement):
                if isinstance(node, (ast.expr, ast.stmt)) and len(self._text(node)) <= _LONGEST:
                    yield from self._of(node)

    def _of(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.BinOp():
                yield from self._of_operation(node)
            case ast.AugAssign(op=op) if type(op) in _OPERATORS:
                target, value = self._text(node.target), self._text(node.value)
                for other in _OPERATORS[type(op)][1]:
                    yield self._edit("operator", node, f"{target} {other}= {value}")
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()) | ast.Constant():
                yield from self._of_number(node)
            case ast.UnaryOp(op=ast.USub()):
                yield self._edit("operator", node, self._text(node.operand))
            case ast.Name(ctx=ast.Load()) if node.id in (*self.scope.names, *self.scope.unbound):
                yield from self._of_variable(node)
            case ast.Attribute(ctx=ast.Load()) if held(node) in self.scope.held:
                for name in (one for one in self.scope.held if one != node.attr):
                    unused = name in self.scope.unused
                    yield self._edit("layer", node, f"self.{name}", telling=int(unused))
            case ast.Call():
                yield from self._of_call(node)
            case ast.Subscript(ctx=ast.Load()):
                yield self._edit("extra", node, self._text(node.value))
                if isinstance(node.slice, ast.Tuple):
                    yield from self._exchanged(node.slice.elts)
            case ast.Pass():
                yield from self._of_nothing(node)
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.Expr)):
            yield from self._of_statement(node)
        if isinstance(node, (ast.Name, ast.Call, ast.BinOp, ast.Subscript)) and self._is_value(node):
            yield from self._with_more(node)

    def _is_value(self, node: ast.expr) -> bool:
        """Is it, in a pass, what is bound, returned or called with, or what a method is called of?"""
        parent = self.parents.get(node)
        if self.scope.function.name == "__init__" or isinstance(getattr(node, "ctx", None), ast.Store):
            return False
        if isinstance(parent, ast.Attribute):
            return isinstance(self.parents.get(parent), ast.Call) and not isinstance(node, ast.Name)
        if isinstance(parent, ast.Call):
            return node in parent.args
        return isinstance(parent, (ast.Assign, ast.AugAssign, ast.Return, ast.Tuple))

    def _with_more(self, node: ast.expr) -> Iterator[Edit]:
        """With what may have been left out: a layer, a term, or a step."""
        value = self._text(node)
        grouped = f"({value})" if isinstance(node, ast.BinOp) else value
        known = (name for name in self.scope.names if self.scope.first.get(name, 0) <= node.lineno)
        yield from self._with_unused(node, value)
        yield from (
            self._edit("missing", node, f"({grouped} {sign} {other})")
            for other in known
            for sign in "+*"
            if other != value
        )
        yield from (self._edit("missing", node, f"{grouped}{step}") for step in _STEPS)

    def _with_unused(self, node: ast.expr, value: str) -> Iterator[Edit]:
        """With what nothing uses: called, as a layer or the variable of a loop is, or added."""
        unused = [one for one in self._unused() if one != value]
        for new in (*(f"{one}({value})" for one in unused), *(f"({value} + {one})" for one in unused)):
            yield self._edit("missing", node, new, telling=1 + self._is_copy(node))

    def _is_copy(self, node: ast.expr) -> bool:
        """Is it a variable that another is bound to as it is?"""
        return isinstance(node, ast.Name) and isinstance(self.parents.get(node), ast.Assign)

    def _of_nothing(self, node: ast.Pass) -> Iterator[Edit]:
        """What nothing uses, taken to a variable where nothing is done."""
        known = [name for name, line in self.scope.first.items() if line < node.lineno]
        arguments = [name for name in self.scope.names if name not in self.scope.first]
        for x in (*known, *arguments):
            unused = [one for one in self._unused() if one != x]
            for new in (*(f"{one}({x})" for one in unused), *(f"{x} + {one}" for one in unused)):
                yield self._edit("missing", node, f"{x} = {new}", telling=2)

    def _unused(self) -> list[str]:
        """Layers, parameters and variables that nothing uses."""
        return [*(f"self.{name}" for name in self.scope.unused), *self.scope.idle]

    def _of_operation(self, node: ast.BinOp) -> Iterator[Edit]:
        left, right = self._text(node.left), self._text(node.right)
        sign, others = _OPERATORS.get(type(node.op), ("", ()))
        yield from (self._edit("operator", node, f"{left} {other} {right}") for other in others)
        if isinstance(node.op, (ast.Mult, ast.Div)):
            yield self._edit("operator", node.right, f"-{right}")
        yield from (self._edit("extra", node, side) for side in (left, right))
        if isinstance(node.op, _ORDERED):
            yield self._edit("order", node, f"({right}) {sign} ({left})")

    def _of_number(self, node: ast.UnaryOp | ast.Constant) -> Iterator[Edit]:
        if isinstance(self.parents.get(node), ast.UnaryOp):
            return
        try:
            now = ast.literal_eval(node)
        except (ValueError, TypeError):
            return
        if type(now) is float:
            yield from (self._edit("number", node, str(one)) for one in (0.0, -now) if one != now)
        elif type(now) is int and called(self.parents.get(node)) != "permute":  # which has each axis once
            axes = _AXES if self._is_axis(node) else ()
            others = dict.fromkeys(
                one for one in (*axes, now + 1, now - 1) if one not in (now, self._idle(node))
            )
            yield from (self._edit("number", node, str(one)) for one in others)
            if self.scope.function.name == "__init__":
                yield from self._of_size(node)

    def _of_size(self, node: ast.expr) -> Iterator[Edit]:
        """A size that was computed, and is not used."""
        for name in (*self.scope.idle, *(f"self.{one}" for one in self.scope.unread)):
            yield from (self._edit("number", node, text, telling=1) for text in (f"({name} + 1)", name))

    def _idle(self, node: ast.AST) -> int | None:
        """The number with which an operation does nothing, which is told as a step too many."""
        operation = self.parents.get(node)
        if not isinstance(operation, ast.BinOp):
            return None
        return 0 if isinstance(operation.op, (ast.Add, ast.Sub)) else 1

    def _is_axis(self, node: ast.AST) -> bool:
        parent = self.parents.get(node)
        if isinstance(parent, ast.keyword):
            return parent.arg in _AXIS_NAMES
        if isinstance(parent, ast.Call):
            return called(parent) in _TAKES_AXES
        return isinstance(parent, (ast.Subscript, ast.Tuple))

    def _of_variable(self, node: ast.Name) -> Iterator[Edit]:
        parent = self.parents.get(node)
        if isinstance(parent, ast.Call) and parent.func is node:
            return
        known = (name for name in self.scope.names if self.scope.first.get(name, 0) <= node.lineno)
        idle = self.scope.idle
        yield from (
            self._edit("variable", node, name, telling=int(name in idle)) for name in known if name != node.id
        )

    def _of_call(self, node: ast.Call) -> Iterator[Edit]:
        first = next((one for one in node.args if not isinstance(one, ast.Starred)), None)
        if first is not None and not self._makes(node):
            yield self._edit("extra", node, self._text(first))
        if isinstance(node.func, ast.Attribute) and self._is_tensor(node.func.value):
            yield self._edit("extra", node, self._text(node.func.value))
        yield from self._exchanged(node.args)

    def _exchanged(self, nodes: Sequence[ast.expr]) -> Iterator[Edit]:
        """Any two neighbours, each in the place of the other."""
        for one, other in pairwise(nodes):
            (start, middle), (again, end) = self._span(one), self._span(other)
            between = self.raw[middle:again].decode()
            yield self._at(one, "order", start, end, f"{self._text(other)}{between}{self._text(one)}")

    def _makes(self, call: ast.Call) -> bool:
        """Is it of a class, or what makes something of numbers: no step on the way of a tensor?"""
        name = called(call)
        return name[:1].isupper() or name in ("super", "range")

    def _is_tensor(self, value: ast.expr) -> bool:
        """May a tensor's method be called of it? Not where it is ``self``, an imported module or super()."""
        if isinstance(value, ast.Call):
            return not self._makes(value)
        return not isinstance(value, ast.Name) or value.id in (*self.scope.names, *self.scope.unbound)

    def _of_statement(self, node: ast.Assign | ast.AugAssign | ast.Expr) -> Iterator[Edit]:
        if isinstance(node.value, ast.Constant):
            return
        if self.scope.function.name != "__init__":
            yield self._edit("extra", node, "pass")
        if isinstance(node, ast.Expr):
            value = self._text(node.value)
            yield from (self._edit("kept", node, f"{name} = {value}") for name in self._forgotten(node))

    def _forgotten(self, node: ast.Expr) -> list[str]:
        """What the value may have been meant for: in a constructor, what a layer or a parameter is."""
        if self.scope.function.name == "__init__":
            return [f"self.{name}" for name in self.scope.lacking if makes_object(node.value)]
        used = {one.id for one in ast.walk(node.value) if isinstance(one, ast.Name)}
        names = [name for name in self.scope.names if name in used]
        later = [name for name, line in self.scope.first.items() if line > node.lineno]
        return [*self.scope.unbound, *later, *names]

    def _edit(self, kind: Kind, node: ast.expr | ast.stmt, new: str, *, telling: int = 0) -> Edit:
        return replace(self._at(node, kind, *self._span(node), new), telling=telling)

    def _at(self, node: ast.expr | ast.stmt, kind: Kind, start: int, end: int, new: str) -> Edit:
        old = self.raw[start:end].decode()
        column = 1 + len(self.raw[self.starts[node.lineno - 1] : start].decode())
        return Edit(self.file, kind, node.lineno, column, start, end, old, new)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None  # as parsed code has it
        assert node.end_col_offset is not None
        first, last = self.starts[node.lineno - 1], self.starts[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset

    def _text(self, node: ast.expr | ast.stmt) -> str:
        start, end = self._span(node)
        return self.raw[start:end].decode()
