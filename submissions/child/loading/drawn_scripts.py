"""Child side: lines of a script that compute from tensors that it draws, as one tries out a part of a model.

What is drawn first is what the part is given. What else it draws are weights: they and the layers are made
once, as in a constructor, and what reads any of these is run in each pass.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from types import CodeType, FunctionType

import torch
from torch import Tensor, nn

from ...reading.code_scopes import called
from .costs import cost
from .definitions import Definition
from .execution import Loaded
from .program import Program
from .statements import Need, Statement, bound

_DRAWS = ("rand", "randn", "normal", "normal_", "uniform_")
_NAME = "the script"
_SEED = 0  # of layers that are made where they are used


@dataclass(frozen=True)
class DrawnScript:
    """The statements of a file, the tensors that they draw and compute from, and all that they bind."""

    statements: Sequence[Statement]
    drawn: Mapping[str, Tensor]
    names: Mapping[str, object]

    @cached_property
    def drawing(self) -> list[Statement]:
        """Those that draw what they bind."""
        return _drawing(self.statements)

    @cached_property
    def in_pass(self) -> list[Statement]:
        """Those that compute from what was drawn or from layers, and make neither."""
        live, steps = {*self.drawn, *self.weights, *self.layers}, set[Statement]()
        made = {*self.drawing}
        others = [
            one for one in self.statements if not (one in made or one.binds & self.layers or one.defines)
        ]
        for one in others:
            if one.loads & live:
                live |= _changed_in(one)
                steps.add(one)
        changed = {name for one in steps for name in _changed_in(one)}  # such as a list that begins empty
        return [one for one in others if one in steps or one.binds & changed]

    @cached_property
    def weights(self) -> set[str]:
        """The names of what else is drawn."""
        drawn = {name for one in self.drawing for name in one.binds}
        return (drawn - self.drawn.keys()) & self.names.keys()

    @cached_property
    def layers(self) -> set[str]:
        """The names of layers, and of lists of them."""
        return {
            name
            for name, one in self.names.items()
            if any(isinstance(each, nn.Module) for each in _flat(one))
        }

    @property
    def definitions(self) -> list[CodeType]:
        """Its functions, which read what it binds."""
        return [one.code for one in self.statements if one.code and one.defines and not one.is_import]

    @property
    def node(self) -> ast.FunctionDef:
        """A function that does the same."""
        inputs = ast.arguments([], [ast.arg(one) for one in self.drawn], None, [], [], None, [])
        body = [one.node for one in self.in_pass]
        return ast.FunctionDef(_NAME, inputs, body, [], lineno=self.in_pass[0].line, col_offset=0)

    def module(self) -> ScriptModule:
        return ScriptModule(self)


class ScriptModule(nn.Module):
    """What such a script computes, given what it draws: every tensor that it names, the latest first.

    Of its functions it is what they give to a line, named there or not. Its layers, weights and functions
    are its own, whatever else was made of the same script.
    """

    def __init__(self, script: DrawnScript) -> None:
        super().__init__()
        self.inputs = list(script.drawn)
        self._drawn, self._in_pass = script.drawn, script.in_pass
        own = {name: script.names[name] for name in script.layers | script.weights}
        self._names = {**script.names, **_with_parameters(deepcopy(own), script.weights)}
        for code in script.definitions:
            exec(code, self._names)
        self._given, self._called = list[Tensor](), 0  # by functions that its lines call, and how deep
        for name, one in self._names.items():
            if isinstance(one, FunctionType) and one.__globals__ is self._names:
                self._names[name] = self._heard(one)
        every = [one for name in own for one in _flat(self._names[name])]
        self._layers = nn.ModuleList(one for one in every if isinstance(one, nn.Module))
        self._weights = nn.ParameterList(one for one in every if isinstance(one, nn.Parameter))

    def forward(self, *given: Tensor) -> list[Tensor]:
        names = self._names
        for (name, drawn), one in zip(self._drawn.items(), given, strict=True):
            names[name] = one.reshape(drawn.shape)
        axes = given[0].dim() - drawn.dim()  # of one image, which has no axis of its own here
        found: list[Tensor] = []
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(_SEED)
            for step in self._in_pass:
                if step.code is not None and cost(step.node, Need.SCRIPT, names) is None:
                    self._given.clear()
                    exec(step.code, names)
                    found += self._given
                    found += (bound for name in step.binds if isinstance(bound := names.get(name), Tensor))
        return [one.reshape(*(1,) * axes, *one.shape) for one in reversed(found)]

    def _heard(self, function: FunctionType) -> Callable[..., object]:
        """The same, of which what it gives to a line of the script is kept."""

        @wraps(function)
        def heard(*given: object, **options: object) -> object:
            self._called += 1
            try:
                result = function(*given, **options)
            finally:
                self._called -= 1
            if not self._called:
                self._given += (one for one in _flat(result) if isinstance(one, Tensor))
            return result

        return heard


def _flat(value: object) -> Iterator[object]:
    """What lists and dictionaries hold, and anything else itself."""
    if isinstance(value, (list, tuple, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _flat(one)
    else:
        yield value


def _with_parameters(names: dict[str, object], weights: Collection[str]) -> dict[str, object]:
    return {name: _as_parameters(one) if name in weights else one for name, one in names.items()}


def _as_parameters(value: object) -> object:
    """The same, also in lists and dictionaries, with each tensor as a parameter."""
    if isinstance(value, (list, tuple)):
        return [_as_parameters(one) for one in value]
    if isinstance(value, dict):
        return {key: _as_parameters(one) for key, one in value.items()}
    if isinstance(value, Tensor) and value.is_floating_point():
        return nn.Parameter(value.detach())
    return value


def drawn_scripts(loaded: Loaded, inputs: int) -> Iterator[Definition]:
    """Yield the files that compute from so many tensors of one shape that they draw: they may be a part."""
    for file in loaded.program.parts:
        if file not in loaded.program.broken and _drawing(loaded.program.statements[file]):
            ran = ran_as_script(loaded.program, file)
            script = _script(ran.program.statements[file], vars(ran.modules[file]), inputs)
            if script is not None:
                yield Definition(_NAME, file, script.in_pass[0].file, script, script.node)


@lru_cache(maxsize=1)
def ran_as_script(program: Program, file: str) -> Loaded:
    """With all that the file computes where it is run by itself."""
    return Loaded(program.as_script(file, {}, trains=False)).reload({})


def _script(statements: Sequence[Statement], names: Mapping[str, object], inputs: int) -> DrawnScript | None:
    """As inputs it has the first that it draws with most axes: weights have two, and tokens mostly three.

    An image that nothing is computed from yet is none.
    """
    drawing = _drawing(statements)
    draws = [name for one in drawing for name in one.binds]
    tensors = {name: one for name in draws if isinstance(one := names.get(name), Tensor) and one.dim() > 1}
    for axes in sorted({one.dim() for one in tensors.values()}, reverse=True):
        drawn = dict([(name, one) for name, one in tensors.items() if one.dim() == axes][:inputs])
        found = DrawnScript(_latest(statements, drawing, drawn, names), drawn, names)
        alike = len({one.shape for one in drawn.values()}) == 1
        if len(drawn) == inputs and alike and any(one.loads & drawn.keys() for one in found.in_pass):
            return found
    return None


def _latest(
    statements: Sequence[Statement],
    drawing: Sequence[Statement],
    drawn: Mapping[str, Tensor],
    names: Mapping[str, object],
) -> Sequence[Statement]:
    """Without those that compute from inputs under whose names others are drawn later."""
    anew = [one for one in drawing if one.binds & drawn.keys() and not one.binds & one.loads]
    if len(anew) <= len(drawn):
        return statements
    first = statements.index(anew[-len(drawn)])
    before = {*DrawnScript(statements[:first], drawn, names).in_pass}
    return [one for one in statements if one not in before]


def _changed_in(statement: Statement) -> set[str]:
    """The names that it and every statement in it bind or change."""
    inside = (node for node in ast.walk(statement.node) if isinstance(node, ast.stmt))
    return {*statement.binds} | {name for node in inside for name in bound(node)}


def _drawing(statements: Sequence[Statement]) -> list[Statement]:
    """Those that draw what they bind, by themselves or by a function that is given nothing drawn."""
    draws, drawn, found = {*_DRAWS}, set[str](), list[Statement]()
    for one in statements:
        calls = {called(node) for node in ast.walk(one.node)}
        if one.defines and calls & draws:
            draws |= one.binds
        elif not one.defines and (calls & {*_DRAWS} or (calls & draws and not one.loads & drawn)):
            found.append(one)
            drawn |= one.binds
    return found
