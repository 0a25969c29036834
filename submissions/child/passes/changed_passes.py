"""Child side: passes of the model with small changes in its code, each made and taken back again.

New code takes the place of a function's old code, so that nothing is executed or built anew: that takes ten
times as long as such a pass.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from time import process_time
from types import CodeType, FrameType, FunctionType
from typing import NamedTuple

import torch
from torch import nn

from ...questions.changes import ChangedPass, TryChanges
from ...questions.randomise import named_tensors
from ...reading.code import STUDENT_PREFIX
from ...reading.edits import Edit
from ...reading.python_text import ABSURD
from ..building.probing import as_given
from ..child import is_out_of_memory
from ..dtypes import default_dtype
from ..subject import model_of
from ..tracing.results import results_in
from .plain import begin_pass

_SLOW = 0.05  # processor seconds of one pass, which takes some thousandths: not worth as much for each change


class _Place(NamedTuple):
    """Of a function, in all versions of its file that differ below its first line alone."""

    file: str
    line: int
    name: str


def changed_passes(asked: TryChanges) -> tuple[ChangedPass, ...]:
    """The answer to that question."""
    building: set[_Place] = set()
    passing: set[_Place] = set()
    with _calls(building):
        model = model_of(asked)
    with _calls(passing):
        began = process_time()
        before = _run(model, asked)
    if process_time() - began > _SLOW:
        return (ChangedPass(True),) * len(asked.changes)
    functions, weights = _functions(passing - building), _Weights(model)
    texts = {file: _Text(file, text) for file, text in asked.texts.items()}
    found = []
    for change in asked.changes:
        text = texts[change.file]
        place = text.place(change)
        if place in functions:
            found.append(_changed(functions[place], text.code(change, place), model, asked))
            weights.restore()
        else:
            found.append(ChangedPass(tried=before is not None and place not in building))
    return tuple(found)


def _changed(
    functions: list[FunctionType], code: CodeType | None, model: nn.Module, asked: TryChanges
) -> ChangedPass:
    kept = [(one, one.__code__) for one in functions]
    try:
        for one in functions:
            if code is not None:
                one.__code__ = code
        return ChangedPass(True, () if code is None else _run(model, asked) or ())
    except ValueError:  # it needs other names from around it than the old code
        return ChangedPass(True)
    finally:
        for one, old in kept:
            one.__code__ = old


def _run(model: nn.Module, asked: TryChanges) -> tuple[torch.Tensor, ...] | None:
    """What one pass returns; None where it raises."""
    try:
        with torch.no_grad(), default_dtype(torch.float64):
            begin_pass(0)
            returned = results_in(model(as_given(asked.image, torch.float64).clone())).tensors
        return tuple(one.double().contiguous() for _, one in returned)
    except (Exception, SystemExit) as error:
        if is_out_of_memory(error):
            raise
        return None


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
        self._last = {place: _last_line(code) for place, code in self._functions(text)}

    def place(self, change: Edit) -> _Place | None:
        """The function that the change is made in."""
        within = (place for place, last in self._last.items() if place.line <= change.line <= last)
        return next(within, None)

    def code(self, change: Edit, place: _Place) -> CodeType | None:
        """The code of that function with the change; None where it is no Python then."""
        changed = self._functions(change.applied(self._text))
        return next((code for other, code in changed if other == place), None)

    def _functions(self, text: str) -> Iterator[tuple[_Place, CodeType]]:
        with suppress(*ABSURD):
            yield from _outermost(compile(text, self._file, "exec", dont_inherit=True))


def _outermost(code: CodeType) -> Iterator[tuple[_Place, CodeType]]:
    """Functions that are in no other, with their place."""
    for one in code.co_consts:
        if isinstance(one, CodeType) and one.co_flags & inspect.CO_OPTIMIZED:
            yield _place(one), one
        elif isinstance(one, CodeType):  # the body of a class
            yield from _outermost(one)


def _place(code: CodeType) -> _Place:
    return _Place(code.co_filename, code.co_firstlineno, code.co_name)


def _last_line(code: CodeType) -> int:
    inner = (_last_line(one) for one in code.co_consts if isinstance(one, CodeType))
    return max(code.co_firstlineno, *(line or 0 for _, _, line in code.co_lines()), *inner)


@contextmanager
def _calls(places: set[_Place]) -> Iterator[None]:
    """Adds the student's functions that are called meanwhile."""

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(STUDENT_PREFIX):
            places.add(_place(frame.f_code))

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def _functions(places: Collection[_Place]) -> dict[_Place, list[FunctionType]]:
    """The functions there, however they are reached."""
    found: dict[_Place, list[FunctionType]] = {}
    for one in gc.get_objects():
        if type(one) is FunctionType and (place := _place(one.__code__)) in places:
            found.setdefault(place, []).append(one)
    return found
