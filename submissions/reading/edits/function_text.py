"""The text of one function, and changes of pieces of it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise

from ..code_scopes import Scope, called, name_of
from .edit import Edit, Kind, Role

Node = ast.expr | ast.stmt | ast.arg
_LONGEST = 2_000  # bytes of what is changed


class FunctionText:
    """A function in its file, as far as changes of it are asked for."""

    def __init__(self, file: str, text: str, scope: Scope) -> None:
        self.file, self.scope = file, scope
        self._raw = text.encode()
        self._starts = list(accumulate((len(line) + 1 for line in self._raw.split(b"\n")), initial=0))
        inside = ((child, one) for one in ast.walk(scope.function) for child in ast.iter_child_nodes(one))
        self._parents = dict(inside)

    @cached_property
    def _object(self) -> str:
        """What this method calls the object that it is called of."""
        first = (one for one in self.scope.function.args.args[:1] if one.arg == "self")
        return next((self.text(one).partition(":")[0].strip() for one in first), "self")

    @property
    def is_constructor(self) -> bool:
        return self.scope.function.name == "__init__"

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self._parents.get(node)

    @cached_property
    def calls(self) -> Mapping[str, list[ast.Call]]:
        """All that are made, by the name of what is called."""
        found = defaultdict[str, list[ast.Call]](list)
        for one in self._parents:
            if isinstance(one, ast.Call):
                found[called(one)].append(one)
        return found

    def is_short(self, node: Node, last: Node | None = None) -> bool:
        """Alone, or up to the ``last`` one; else nobody has written it by hand."""
        return self._span(last or node)[1] - self._span(node)[0] <= _LONGEST

    def text(self, node: Node) -> str:
        start, end = self._span(node)
        return self._raw[start:end].decode()

    def edit(
        self,
        kind: Kind,
        node: Node,
        new: str,
        *,
        telling: int = 0,
        name: str = "",
        role: Role = "value",
    ) -> Edit:
        """``new`` in the place of a node; ``name`` comes in with it."""
        return self._at(node, *self._span(node), new, kind, telling, name, role, name_of(node))

    def with_argument(self, call: ast.Call, argument: str) -> str:
        """A call, given one argument more."""
        given = self.text(call)[:-1].rstrip().rstrip(",")
        return f"{given}{', ' if call.args or call.keywords else ''}{argument})"

    def spanning(self, kind: Kind, first: Node, last: Node, new: str) -> Edit:
        """``new`` in the place of all from one node to another."""
        return self._at(first, self._span(first)[0], self._span(last)[1], new, kind)

    def exchanged(self, kind: Kind, nodes: Sequence[Node]) -> Iterator[Edit]:
        """Any two neighbours, each in the place of the other."""
        for one, other in pairwise(nodes):
            yield self._exchanged(kind, one, other)

    def reordered(self, nodes: Sequence[Node]) -> Iterator[Edit]:
        """Any two neighbours, and two with one between them, each in the place of the other."""
        yield from self.exchanged("order", nodes)
        yield from (self._exchanged("turned", one, other) for one, other in zip(nodes, nodes[2:]))

    def _exchanged(self, kind: Kind, one: Node, other: Node) -> Edit:
        between = self._raw[self._span(one)[1] : self._span(other)[0]].decode()
        return self.spanning(kind, one, other, f"{self.text(other)}{between}{self.text(one)}")

    def kept(self, kind: Kind, first: Node, place: Node, name: str) -> Edit:
        """What ``name`` holds before the ``first`` line, in a place behind it."""
        (start, _), (before, end) = self._span(first), self._span(place)
        new = f"kept_ = {name}; {self._raw[start:before].decode()}kept_"
        return self._at(first, start, end, new, kind)

    def in_line_with(self, kind: Kind, other: Node, moved: Node, telling: int = 0) -> Edit:
        """A line that is ``moved`` in or out, to where the ``other`` one begins."""
        start, end = self._span(moved)
        line, indent = self._starts[moved.lineno - 1], " " * other.col_offset
        found = self._at(moved, line, end, f"{indent}{self._raw[start:end].decode()}", kind, telling)
        return replace(found, column=moved.col_offset + 1)

    def _at(
        self,
        node: Node,
        start: int,
        end: int,
        new: str,
        kind: Kind,
        telling: int = 0,
        name: str = "",
        role: Role = "value",
        instead: str = "",
    ) -> Edit:
        old = self._raw[start:end].decode()
        new = new if self._object == "self" else re.sub(r"\bself\b", self._object, new)
        column = 1 + len(self._raw[self._starts[node.lineno - 1] : start].decode())
        return Edit(self.file, kind, node.lineno, column, start, end, old, new, telling, name, role, instead)

    def _span(self, node: Node) -> tuple[int, int]:
        assert node.end_lineno is not None  # as parsed code has it
        assert node.end_col_offset is not None
        first, last = self._starts[node.lineno - 1], self._starts[node.end_lineno - 1]
        return first + node.col_offset, last + node.end_col_offset
