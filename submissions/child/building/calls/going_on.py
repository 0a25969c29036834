"""A forward that is not written yet: in its place, the methods that are written are called in turn."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, MethodType
from typing import Any

from torch import Tensor, nn

from ....errors import Frame
from ....reading.code import STUDENT_PREFIX

_Method = Callable[..., object]
Step = tuple[str, bool]  # the name of a method, and whether it is all that is done with a block


def open_steps(model: nn.Module, steps: Sequence[Step]) -> None:
    """Has its forward go on with these methods where it says that it is not written yet, and then say so."""
    model.forward = MethodType(functools.partial(_forward, model.forward, steps), model)


def _forward(forward: _Method, steps: Sequence[Step], model: nn.Module, *images: Tensor) -> object:
    try:
        return forward(*images)
    except NotImplementedError:
        x = images[0]
        for name, alone in steps:
            given = called(model, name, x, alone=alone)
            x = x if given is None else given
        if lacks_forward(type(model)):
            return x
        raise


def lacks_forward(kind: type) -> bool:
    """Is it a module whose forward nobody has written, here or in a class that it is derived from?"""
    return getattr(kind, "forward", None) is nn.Module.forward


def end_at(model: nn.Module, frame: Frame) -> None:
    """Has its forward say at its end that it is not written yet, on this line of the student's."""
    lines = "\n" * (frame.line - 1) + "raise NotImplementedError"
    code = compile(lines, STUDENT_PREFIX + frame.file, "exec")
    model.forward = MethodType(functools.partial(_ended, model.forward, code), model)


def _ended(forward: _Method, code: CodeType, model: nn.Module, *images: Tensor) -> object:
    given = forward(*images)
    exec(code)
    return given


def called(model: nn.Module, name: str, x: Tensor, *, alone: bool = False) -> Tensor | None:
    """What the method makes of that, and of a block where it asks for one thing more; None where it fails.

    Where it is ``alone`` in that, it is all of a block, and is called for each. Raises NotImplementedError
    where it says so.
    """
    method: _Method = getattr(model, name)
    known, left = _asked(model, name)
    blocks = next((one for one in model.children() if isinstance(one, nn.ModuleList)), nn.ModuleList())
    if len(left) > 1 or (left and not len(blocks)):
        return None
    rows: Sequence[Mapping[str, Any]] = [{left[0]: block} for block in blocks] if left else [{}]
    try:
        for row in rows if alone else rows[:1]:
            x = method(x, **known, **row)  # type: ignore[assignment]  # looked at below
            if not isinstance(x, Tensor) or not x.is_floating_point():
                return None
    except NotImplementedError:
        raise
    except Exception:  # it is called as nobody has said that it may be
        return None
    return x


def of_block(model: nn.Module, name: str) -> bool:
    """Does it ask for one thing that the model does not hold under this name: a block, most likely?"""
    return len(_asked(model, name)[1]) == 1


def _asked(model: nn.Module, name: str) -> tuple[Mapping[str, Any], Sequence[str]]:
    """What the model holds of what the method needs beside the first argument, and the names of the rest."""
    needed = inspect.signature(getattr(model, name)).parameters.values()
    others = [one.name for one in list(needed)[1:] if one.default is one.empty]
    known = {one: getattr(model, one) for one in others if hasattr(model, one)}
    return known, [one for one in others if one not in known]
