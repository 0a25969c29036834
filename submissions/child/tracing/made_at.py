"""Child side: on which line of the student's a parameter was made."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.nn.parameter import is_lazy

from ...errors import Frame
from .student_stack import line_of, student_stack

# of the model that was built last, by the identity of a parameter, and by the shape of any
_lines: dict[int, Frame] = {}
_lines_of_shapes: dict[tuple[int, ...], set[Frame]] = {}


@contextmanager
def parameters_noted() -> Iterator[None]:
    """Notes where the parameters are made that modules get meanwhile."""
    _lines.clear()
    _lines_of_shapes.clear()

    def note(module: nn.Module, name: str, parameter: nn.Parameter) -> None:
        innermost = next(student_stack(sys._getframe()), None)
        if innermost is not None:
            _lines[id(parameter)] = made = line_of(innermost)
            if not is_lazy(parameter):  # which has no shape yet
                _lines_of_shapes.setdefault(tuple(parameter.shape), set()).add(made)

    handle = register_module_parameter_registration_hook(note)
    try:
        yield
    finally:
        handle.remove()


def made_at(parameter: nn.Parameter) -> Frame | None:
    """The line of the student's code, where it is known.

    A copy, as ``nn.TransformerEncoder`` makes it of a layer, was made where all others of its shape were.
    """
    if id(parameter) in _lines:
        return _lines[id(parameter)]
    alike = _lines_of_shapes.get(tuple(parameter.shape), ())
    return next(iter(alike)) if len(alike) == 1 else None
