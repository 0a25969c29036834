"""Writes a program: what its classes make and do, in the words that it has drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import tidying
from .drawing import Below, Choices
from .facts import Facts
from .marking import plain
from .style import Style
from .words import Names

SIZES = ("image", "patch", "channels", "dim", "depth", "heads", "mlp", "ratio", "classes", "dropout")


@dataclass
class Scope:
    """A class that is being written."""

    what: str  # it is, as words.txt says it
    name: str
    makes: list[str] = field(default_factory=list)  # lines of its constructor
    does: list[str] = field(default_factory=list)  # lines of its forward
    asked: list[str] = field(default_factory=list)  # sizes, in the order in which they are asked for
    weights: dict[str, str] = field(default_factory=dict)  # by role, an expression in ``self``
    kept: dict[str, str] = field(default_factory=dict)  # attributes, by what they hold
    base: str = "nn.Module"
    takes: list[str] = field(default_factory=list)  # what forward may be given beside what it reads
    methods: dict[str, str] = field(default_factory=dict)  # others than forward, by name


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
        self.after: list[str] = []  # what stands behind the classes
        self._style = Style(self.choices)

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

    def named(self, name: str, expression: str) -> str:
        """The name of a value: its own, or this one."""
        if plain(expression).isidentifier():
            return plain(expression)
        self.do(f"{name} = {expression}")
        return name

    def weight(self, role: str, expression: str) -> None:
        self.scope.weights[role] = expression

    def linear(self, role: str, layer: str, turned: str = "") -> None:
        """Where the weight and the bias of a linear map are: of this layer, the weight in another form."""
        self.weight(f"{role}.weight", f"{layer}.weight{turned}")
        self.weight(f"{role}.bias", f"{layer}.bias")

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
    def writing(self, name: str) -> Iterator[Scope]:
        """A class of its own; what it stores is forgotten afterwards."""
        self.scopes.append(Scope(name, getattr(self.n, name)))
        try:
            yield self.scope
        finally:
            self.scopes.pop()

    def part(self, slot: str, attribute: str, name: str, x: str, inline: bool = True) -> str:
        """Let an idiom of the slot write into a class of its own, or, if ``inline``, into the one at hand."""
        if inline and (self.choices.once_in(4) or "one class" in self.values):
            if not x.isidentifier():  # is read more than once
                self.do(f"{self.n.normed} = {x}")
                x = self.n.normed
            return self.call(slot, x)
        return f"{self.alone(slot, attribute, name)}({x})"

    def alone(self, slot: str, attribute: str, name: str) -> str:
        """A part in a class of its own, made; how forward says it."""
        read = self.n.x if slot in ("embedding", "patching") else self.n.seq
        with self.writing(name) as scope:
            self.finish(scope, read, self.call(slot, read))
        return self.child(scope, attribute)

    def adopt(self, scope: Scope) -> None:
        """What a class would have had that is written into the one at hand, beside its lines."""
        for size in scope.asked:
            self.size(size)
        self.scope.kept.update(scope.kept)
        self.scope.methods.update(scope.methods)
        self.scope.takes += [one for one in scope.takes if one not in self.scope.takes]
        if scope.base != "nn.Module":
            self.scope.base = scope.base

    def child(self, scope: Scope, attribute: str) -> str:
        """Make a part whose class is written; how forward says it."""
        made = self.layer(attribute, self.construct(scope))
        for role, expression in scope.weights.items():
            self.weight(role, expression.replace("self.", f"{made}."))
        return made

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

    def finish(
        self, scope: Scope, x: str, result: str, parameters: Callable[[], list[str]] | None = None
    ) -> None:
        """Render a class that is written; ``parameters`` are asked for when its constructor is known."""
        does = tidying.body(scope.does, result, self._style.underscored)
        scope.makes = tidying.stored(scope.makes, [*does, result], scope.kept.values())
        if self.where_sizes == "arguments":
            scope.asked = [one for one in scope.asked if tidying.used(getattr(self.n, one), scope.makes)]
        taken = parameters() if parameters else self.parameters(scope)
        lines = [
            f"class {scope.name}({scope.base}):",
            *self._style.documented(scope.what),
            *self._style.constructor(taken),
            f"        {self._style.super(scope.name)}",
            *_indented(scope.makes),
            *(line for method in scope.methods.values() for line in ("", *_indented([method], 4))),
            "",
            f"    def forward(self, {x}{self._style.annotation}{_listed(scope.takes)}):",
            *_indented(does),
            f"        return {result}",
        ]
        self.classes.append((scope.name, "\n".join(lines)))


def _listed(parameters: list[str]) -> str:
    return "".join(f", {one}" for one in parameters)


def _indented(lines: list[str], by: int = 8) -> list[str]:
    return [" " * by + part if part else "" for line in lines for part in line.split("\n")]
