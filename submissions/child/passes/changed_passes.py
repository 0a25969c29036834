"""Child side: passes of the model with small changes in its code, each made and taken back again.

New code takes the place of a function's old code, so that nothing is executed anew: that takes ten times as
long as such a pass. Where a change is in what the model is built with, it is built anew.
"""

from __future__ import annotations

import inspect
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from math import isfinite
from types import CodeType, FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from ...questions.changes import ChangedPass, HeldAt, TryChanges, WatchNames
from ...questions.randomise import named_tensors
from ...reading.code import STUDENT_PREFIX
from ...reading.edits.edit import Edit
from ...reading.python_text import ABSURD, lines_of, tree
from ..building.effort import Computed
from ..building.probing import as_given
from ..child import is_out_of_memory
from ..dtypes import default_dtype
from ..subject import model_of
from ..tracing.dispatch_mode import Mode
from ..tracing.results import results_in
from .plain import begin_pass
from .student_calls import Place, called, functions_at, names_held

# Numbers that a pass or building computes with which it is not worth as much for each change; most compute a
# hundredth. An operation takes as long as so many numbers. A clock would tell otherwise on a busy machine.
_SLOW, _OPERATION = 5_000_000, 1_000
_BUILT = 2  # passes, nearly, that building the model takes as well
_MOST = 2_000  # tensors of a pass of which sums are told


def watched_names(asked: WatchNames) -> tuple[HeldAt, ...]:
    """The answer to that question."""
    with names_held() as told, suppress(Exception, SystemExit):
        _passed(model_of(asked), asked.image)
    return tuple(told)


def changed_passes(asked: TryChanges) -> tuple[ChangedPass, ...]:
    """The answer to that question."""
    program = _Program(asked)
    texts = {file: _Text(file, text) for file, text in asked.texts.items()}
    return tuple(program.changed(one, texts[one.file]) for one in asked.changes)


class _Program:
    """The submission's model, and what of its code is called."""

    def __init__(self, asked: TryChanges) -> None:
        self._asked = asked
        with called() as self._building, Computed() as built:
            self._model = model_of(asked)
        with called() as passing, Computed() as passed:
            self._runs = self._tried(lambda: self._model).tensors != ()
        self._is_slow, self._is_built_slowly = _is_slow(passed), _is_slow(built)
        self._functions = functions_at(passing | self._building)
        self._weights = _Weights(self._model)

    def changed(self, change: Edit, text: _Text) -> ChangedPass:
        place = text.place(change)
        is_built_with = place in self._building
        if self._is_slow or place not in self._functions or (is_built_with and self._is_built_slowly):
            # what is not called does nothing, unless the pass would have come there
            return ChangedPass(int(self._is_slow or (self._runs and not is_built_with)))
        functions, code = self._functions[place], text.code(change, place)
        with _instead(functions, code) as is_done, _defaulting(functions, change):
            if not is_done:
                return ChangedPass(1)
            if is_built_with:
                return replace(self._tried(lambda: model_of(self._asked)), cost=1 + _BUILT)
            found = self._tried(lambda: self._model)
        self._weights.restore()
        return found

    def _tried(self, made: Callable[[], nn.Module]) -> ChangedPass:
        """What one pass gives; nothing where it raises."""
        try:
            with _Sums(self._asked.numbers) if self._asked.numbers else nullcontext() as counted:
                model = made()
                tensors = _passed(model, self._asked.image)
        except (Exception, SystemExit) as error:
            if is_out_of_memory(error):
                raise
            tensors = ()
        return ChangedPass(1, tensors, () if counted is None else tuple(counted.found))


def _is_slow(counted: Computed) -> bool:
    return counted.numbers + _OPERATION * counted.operations > _SLOW


def _passed(model: nn.Module, image: Tensor) -> tuple[Tensor, ...]:
    with torch.no_grad(), default_dtype(torch.float64):
        begin_pass(0)
        returned = results_in(model(as_given(image, torch.float64).clone())).tensors
    return tuple(one.double().contiguous() for _, one in returned)


class _Sums(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Adds up the tensors of so many ``numbers`` that operations give, which no layout of them changes."""

    def __init__(self, numbers: int) -> None:
        super().__init__()
        self._numbers = numbers
        self.found: list[tuple[float, float]] = []

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        given = func(*args, **kwargs)
        is_asked = isinstance(given, Tensor) and given.numel() == self._numbers and given.is_floating_point()
        if is_asked and len(self.found) < _MOST:
            sums = float(given.sum()), float(given.square().sum())
            self.found += [sums] if isfinite(sum(sums)) else []
        return given


@contextmanager
def _instead(functions: Sequence[FunctionType], code: CodeType | None) -> Iterator[bool]:
    """Gives them other code meanwhile: False where there is none, or it needs other names from around it."""
    kept = [(one, one.__code__) for one in functions]
    try:
        if code is not None:
            with suppress(ValueError):
                for one in functions:
                    one.__code__ = code
        yield all(one.__code__ is code for one in functions)
    finally:
        for one, old in kept:
            one.__code__ = old


@contextmanager
def _defaulting(functions: Sequence[FunctionType], change: Edit) -> Iterator[None]:
    """Gives their argument another default meanwhile, if that is the change: their code does not have it."""
    kept = [(one, one.__defaults__, one.__kwdefaults__) for one in functions if change.role == "default"]
    try:
        for one, by_place, by_name in kept:
            names, value = one.__code__.co_varnames[: one.__code__.co_argcount], literal_eval(change.new)
            if by_name and change.name in by_name:
                one.__kwdefaults__ = {**by_name, change.name: value}
            elif by_place:
                pairs = zip(names[-len(by_place) :], by_place)
                one.__defaults__ = tuple(value if name == change.name else own for name, own in pairs)
        yield
    finally:
        for one, by_place, by_name in kept:
            one.__defaults__, one.__kwdefaults__ = by_place, by_name


class _Weights:
    """What a model holds, which a change may write into."""

    def __init__(self, model: nn.Module) -> None:
        held = [one for _, one in named_tensors(model)]
        self._kept = [(one, one._version, one.detach().clone()) for one in held]

    @torch.no_grad()
    def restore(self) -> None:
        for one, version, before in self._kept:
            if one._version != version:
                one.copy_(before)
        self._kept = [(one, one._version, before) for one, _, before in self._kept]


class _Text:
    """A file, and the functions and methods that it defines."""

    def __init__(self, file: str, text: str) -> None:
        self._file, self._text = STUDENT_PREFIX + file, text
        parsed = tree(text)
        self._statements = [*map(lines_of, parsed.body)] if parsed is not None else []
        self._flags = 0  # that a file has from its imports of __future__
        self._last: dict[Place, int] = {}
        with suppress(*ABSURD):
            code = compile(text, self._file, "exec", dont_inherit=True)
            self._flags = code.co_flags & annotations.compiler_flag
            self._last = {place: _last_line(one) for place, one in _outermost(code)}

    def place(self, change: Edit) -> Place | None:
        """The function that the change is made in."""
        within = (place for place, last in self._last.items() if place.line <= change.line <= last)
        return next(within, None)

    def code(self, change: Edit, place: Place) -> CodeType | None:
        """The code of that function with the change; None where it is no Python then.

        Only the statement around it is compiled, as far down as it stands: a file takes longer than a pass.
        """
        lines = change.applied(self._text).split("\n")
        around = next(one for one in self._statements if place.line in one)
        end = around.stop + len(lines) - self._text.count("\n") - 2
        with suppress(*ABSURD):
            text = "\n" * (around.start - 1) + "\n".join(lines[around.start - 1 : end])
            changed = _outermost(compile(text, self._file, "exec", self._flags, dont_inherit=True))
            return next((code for other, code in changed if other == place), None)
        return None


def _outermost(code: CodeType) -> Iterator[tuple[Place, CodeType]]:
    """Functions that are in no other, with their place."""
    for one in code.co_consts:
        if isinstance(one, CodeType) and one.co_flags & inspect.CO_OPTIMIZED:
            yield Place.of(one), one
        elif isinstance(one, CodeType):  # the body of a class
            yield from _outermost(one)


def _last_line(code: CodeType) -> int:
    inner = (_last_line(one) for one in code.co_consts if isinstance(one, CodeType))
    return max(code.co_firstlineno, *(line or 0 for _, _, line in code.co_lines()), *inner)
