"""Writes a program: what its classes make and do, in the words that it has drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .drawing import Below, Choices
from .facts import Facts
from .marking import plain
from .words import Names

SIZES = ("image", "patch", "channels", "dim", "depth", "heads", "mlp", "ratio", "classes", "dropout")


@dataclass
class Scope:
    """A class that is being written."""

    name: str
    child: bool  # is built by another class of the program
    makes: list[str] = field(default_factory=list)  # lines of its constructor
    does: list[str] = field(default_factory=list)  # lines of its forward
    asked: list[str] = field(default_factory=list)  # sizes, in the order in which they are asked for
    weights: dict[str, str] = field(default_factory=dict)  # by role, an expression in ``self``
    kept: dict[str, str] = field(default_factory=dict)  # attributes, by what they hold


class Writer:
    """What the idioms write with: names, the class at hand, and what stands around it."""

    def __init__(self, below: Below) -> None:
        self.choices = Choices(below)
        self.n = Names(self.choices)
        self.facts = Facts()
        self.imports: set[str] = {"import torch", "import torch.nn as nn"}
        self.constants: list[str] = []
        self.classes: list[tuple[str, str]] = []  # by name, in an order in which they can be defined
        self.helpers: dict[str, str] = {}
        self.scopes: list[Scope] = []
        self.where_sizes = "arguments"
        self.values: dict[str, str] = {}

    @property
    def scope(self) -> Scope:
        return self.scopes[-1]

    def call(self, slot: str, *arguments: object) -> str:
        """Let a drawn idiom of the slot write, and return the expression that it gives."""
        result: str = self.choices.idiom(slot)(self, *arguments)
        return result

    def make(self, line: str) -> None:
        self.scope.makes.append(line)

    def do(self, line: str) -> None:
        self.scope.does.append(line)

    def assign(self, name: str, expression: str) -> None:
        """Name a value, where it does not have that name already."""
        if plain(expression) != name:
            self.do(f"{name} = {expression}")

    def weight(self, role: str, expression: str) -> None:
        self.scope.weights[role] = expression

    def uses(self, *imports: str) -> None:
        self.imports.update(imports)

    def value(self, size: str) -> str:
        """The number that a size has in this program, marked."""
        return f"«#{size}|{self.values[size]}»"

    def size(self, size: str) -> str:
        """How the constructor at hand says a size."""
        if size not in self.scope.asked:
            self.scope.asked.append(size)
        name: str = getattr(self.n, size)
        forms = {
            "arguments": name,
            "globals": name.upper(),
            "namespace": f"{self.n.cfg}.{name}",
            "literals": self.value(size),
            "dictionary": f'{self.n.cfg}["{name}"]',
        }
        return forms[self.where_sizes]

    def keep(self, what: str, expression: str) -> str:
        """Store a value as an attribute in the constructor, once; return how forward says it."""
        if what not in self.scope.kept:
            attribute = f"self.{getattr(self.n, what)}"
            self.make(f"{attribute} = {expression}")
            self.scope.kept[what] = attribute
        return self.scope.kept[what]

    def layer(self, what: str, expression: str) -> str:
        """Make a layer, and return how forward says it."""
        attribute = f"self.{getattr(self.n, what)}"
        self.make(f"{attribute} = {expression}")
        return attribute

    @contextmanager
    def writing(self, name: str, child: bool = True) -> Iterator[Scope]:
        """A class of its own; what it stores is forgotten afterwards."""
        self.scopes.append(Scope(getattr(self.n, name), child))
        try:
            yield self.scope
        finally:
            self.scopes.pop()

    def part(self, slot: str, attribute: str, name: str, x: str, inline: bool = True) -> str:
        """Let an idiom of the slot write into a class of its own, or, if ``inline``, into the one at hand."""
        if inline and self.choices.once_in(4):
            if not x.isidentifier():  # is read more than once
                self.do(f"{self.n.normed} = {x}")
                x = self.n.normed
            return self.call(slot, x)
        with self.writing(name) as scope:
            result = self.call(slot, self.n.seq)
            self.finish(scope, self.n.seq, result)
        return self.child(scope, attribute, x)

    def child(self, scope: Scope, attribute: str, x: str) -> str:
        """Make and use a part whose class is written."""
        made = self.layer(attribute, self.construct(scope))
        for role, expression in scope.weights.items():
            self.weight(role, expression.replace("self.", f"{made}."))
        return f"{made}({x})"

    def construct(self, scope: Scope) -> str:
        """The call that makes a child, in the constructor at hand."""
        said = [self.size(size) for size in scope.asked]
        if self.where_sizes in ("globals", "literals"):
            return f"{scope.name}()"
        if self.where_sizes != "arguments":
            return f"{scope.name}({self.n.cfg})"
        if self.choices.once_in(3):
            said = [f"{name}={name}" for name in said]
        return f"{scope.name}({', '.join(said)})"

    def parameters(self, scope: Scope) -> list[str]:
        """What the constructor of a class takes."""
        if self.where_sizes in ("globals", "literals"):
            return []
        if self.where_sizes != "arguments":
            return [self.n.cfg]
        return [getattr(self.n, size) for size in scope.asked]

    def finish(self, scope: Scope, x: str, result: str, parameters: list[str] | None = None) -> None:
        """Render a class that is written."""
        taken = self.parameters(scope) if parameters is None else parameters
        lines = [
            f"class {scope.name}(nn.Module):",
            *self._documented(scope),
            f"    def __init__(self{_listed(taken)}):",
        ]
        lines += [f"        {self._super(scope)}", *_indented(scope.makes)]
        lines += ["", f"    def forward(self, {x}{self._annotated()}):", *_indented(scope.does)]
        lines.append(f"        return {result}")
        self.classes.append((scope.name, "\n".join(lines)))

    def _super(self, scope: Scope) -> str:
        return f"super({scope.name}, self).__init__()" if self.choices.once_in(5) else "super().__init__()"

    def _annotated(self) -> str:
        return ": torch.Tensor" if self.choices.once_in(5) else ""

    def _documented(self, scope: Scope) -> list[str]:
        if not self.choices.once_in(4):
            return []
        sentence = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", scope.name).lower()
        before = self.choices.among("", "The ", "Implements the ")
        return [f'    """{before}{sentence}{self.choices.among(".", "", " of the ViT.")}"""', ""]


def _listed(parameters: list[str]) -> str:
    return "".join(f", {one}" for one in parameters)


def _indented(lines: list[str]) -> list[str]:
    return [f"        {part}" if part else "" for line in lines for part in line.split("\n")]
