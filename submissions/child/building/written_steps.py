"""Which methods of a class with an unwritten forward lead on from an image, one after the other.

Courses hand out classes with a method for each step, and the forward comes last. What a student has written
by then is looked at all the same, in the order in which it stands in the class.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from ...reading.code_scopes import attributes
from ...reading.method_calls import attributes_read, reached
from ...reading.python_text import parse, with_self
from ..child import is_placeholder
from ..loading.execution import Loaded
from ..loading.program import source_text
from ..tracing.dispatch_mode import Mode
from .build_attempt import BuildAttempt
from .calls.blueprint import Builder
from .calls.going_on import Step, called, lacks_forward, of_block
from .probing import as_given

_UNWRITTEN = "NotImplementedError"
_NORMS = ("layer_norm", "var", "std", "rsqrt")  # in names of operations
_SAME = 1e-3  # relative and absolute: it is computed in float32, and a residual connection is told from none
_AXES = 3  # of tokens
_SCORES = 2  # axes


def steps_of(builder: Builder, attempt: BuildAttempt) -> tuple[Step, ...]:
    """The methods that lead on from an image, where the forward says that it is not written yet.

    One that gives as many tokens as it takes is left out where it has neither norm nor residual connection of
    its own, since nothing says where they belong.
    """
    if not has_methods(builder):
        return ()
    says_so = is_placeholder(attempt.error) or _says_so(builder.loaded)
    if not says_so and not without_forward(builder):
        return ()
    try:
        model = builder.build_to_try(attempt.assignment, attempt.sizes).eval()
        x = as_given(attempt.sizes.input(0), torch.get_default_dtype())
        with torch.no_grad():
            model(x.clone())
    except NotImplementedError:
        builder.forget()  # another goes on with them
        return () if not says_so and _gives_scores(model, x) else _steps(model, x)
    except (Exception, SystemExit):  # which is told where it is graded
        pass
    return ()


def has_methods(builder: Builder) -> bool:
    """May it be a class with methods to go on with, where its forward is not begun? It need not be built."""
    kind = _target(builder)
    return not isinstance(kind, type) or bool(_methods(kind))


def without_forward(builder: Builder) -> bool:
    """Is it a class that has no forward at all?"""
    kind = _target(builder)
    return isinstance(kind, type) and lacks_forward(kind)


def _target(builder: Builder) -> object:
    call = builder.blueprint.call
    return None if call.target is None else call.target.resolve(builder.loaded)


def _says_so(loaded: Loaded) -> bool:
    files = (file for parts in loaded.program.parts.values() for file in parts)
    return any(_UNWRITTEN in source_text(file) for file in files)


def _steps(model: nn.Module, x: Tensor) -> tuple[Step, ...]:
    """Behind those that lead on, the first that is not written."""
    found: list[Step] = []
    methods = _methods(type(model))
    with torch.no_grad():
        for name in methods:
            step = name, of_block(model, name) and _reads_all(model, methods, name)
            try:
                given = _next(model, step, x)
                users = [one for one in methods if name in methods[one] and one != name]
                reads_nothing = not methods[name]  # of the model, as what takes a row
                if given is None or reads_nothing or any(_leads(model, (user, step[1]), x) for user in users):
                    continue
            except NotImplementedError:
                return (*found, step) if found else ()
            found.append(step)
            x = given
    return tuple(found)


def _gives_scores(model: nn.Module, x: Tensor) -> bool:
    """Is there a forward under another name?"""
    with torch.no_grad():
        given = (called(model, name, x) for name in _methods(type(model)))
        return any(one is not None and one.dim() == _SCORES for one in given)


def _leads(model: nn.Module, step: Step, x: Tensor) -> bool:
    try:
        return _next(model, step, x) is not None
    except NotImplementedError:
        return False


def _reads_all(model: nn.Module, methods: Mapping[str, set[str]], name: str) -> bool:
    """Does it read every part of a block, or do the methods that it uses?"""
    blocks = next(one for one in model.children() if isinstance(one, nn.ModuleList))
    read = set[str]().union(*(methods[one] for one in reached(methods, [name])))
    return {part for part, _ in blocks[0].named_children()} <= read


def _next(model: nn.Module, step: Step, x: Tensor) -> Tensor | None:
    """What the method makes of that, if it leads on."""
    name, alone = step
    given = called(model, name, x, alone=alone)
    if given is None or len(given) != len(x) or given.dim() != _AXES:
        return None
    if given.shape != x.shape:
        return given
    with _Operations() as operations:
        doubled = called(model, name, 2 * x, alone=alone)
    if doubled is None or torch.allclose(doubled, given, rtol=_SAME, atol=0):
        return None
    is_added = torch.allclose(doubled - given, x, rtol=_SAME, atol=_SAME)
    has_norm = any(norm in one for one in operations.names for norm in _NORMS)
    return given if is_added or has_norm else None


def _methods(kind: type) -> Mapping[str, set[str]]:
    """Its own methods but the forward, in their order, each with the attributes that it reads.

    None where the forward is begun: it says itself what comes first.
    """
    try:
        (code,) = with_self(parse(textwrap.dedent(inspect.getsource(kind)))).body
    except (TypeError, ValueError, OSError):  # written in no file, or by no Python
        return {}
    methods = [one for one in ast.walk(code) if isinstance(one, ast.FunctionDef)]
    if any(attributes(one, ast.Load) for one in methods if one.name == "forward"):
        return {}
    own = [one for one in methods if one.name != "forward" and not one.name.startswith("__")]
    return {one.name: attributes_read(one) for one in own}


class _Operations(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Keeps the names of all operations."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self.names.add(func.name())
        return func(*args, **kwargs)
