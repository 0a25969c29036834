"""Child side: how a forward pass behaves beside its numbers, seen call by call as the student writes them.

On a machine with an accelerator, tensors that a model does not register stay behind on the CPU when it is
moved, and tensors made without a device are made there. That is followed here on the CPU alone: running on
the meta device instead would import torch's compiler, which takes longer than a whole pass.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from ...questions.habits import Habit
from ...questions.randomise import named_tensors
from ..child import failure_in_bounds
from ..tracing.results import computed
from ..tracing.tracing import storage_of, student_frames, tensors_in
from .function_names import LETTING_GO, name_of

_MOVING = ("to", "type_as", "cuda")  # to another device, most likely
# what may be given tensors of two devices
_ACROSS = ("copy_", "__setitem__", "__getitem__", "expand_as", "view_as", "reshape_as")
_FUSED = ("scaled_dot_product_attention", "multi_head_attention_forward")


class _Habits(TorchFunctionMode):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.events: list[Habit] = []
        self._alive: list[Any] = []  # or the address of a freed tensor would be used again
        registered = {id(one) for one in (*model.parameters(), *model.buffers())}
        # by storage, the name of what stays on the CPU; "" where the pass itself made it
        self._left_behind = {
            storage_of(one): name for name, one in named_tensors(model) if id(one) not in registered
        }

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = name_of(func)
        given = tensors_in((args, kwargs))
        self._let_go(name, given)
        if name in _FUSED:
            self.note("fused", name)
        before = torch.get_rng_state()
        result = func(*args, **kwargs)
        if not torch.equal(before, torch.get_rng_state()):
            self.note("random", name)
        self._follow(name, given, kwargs, result)
        return result

    def note(self, kind: str, what: str) -> None:
        """Once for each line of the student's code."""
        event = Habit(kind, what, student_frames(sys._getframe()))
        if event.frames and event not in self.events:
            self.events.append(event)

    def _let_go(self, name: str, given: list[Tensor]) -> None:
        if not any(one.requires_grad for one in given):
            return
        if not torch.is_grad_enabled():
            self.note("no_grad", name)
        elif name in LETTING_GO:
            self.note("detach", name)

    def _follow(self, name: str, given: list[Tensor], kwargs: Mapping[str, Any], result: Any) -> None:
        """Keeps track of what lies on the CPU; a tensor without axes may be used with any device."""
        made = tensors_in(result)
        self._alive.append(made)
        if name in _MOVING:
            for one in made:
                self._left_behind.pop(storage_of(one), None)  # on the CPU it is the same tensor
            return
        if name in _ACROSS or (not given and kwargs.get("device") is not None):
            return
        behind = [one for one in given if storage_of(one) in self._left_behind]
        stray = [one for one in behind if one.dim()]
        elsewhere = [one for one in given if one.dim() and storage_of(one) not in self._left_behind]
        if stray and elsewhere:
            self.note("device", self._left_behind[storage_of(stray[0])])
        elif not elsewhere and (behind or not given):
            origin = self._left_behind[storage_of(behind[0])] if behind else ""
            for one in made:
                self._left_behind.setdefault(storage_of(one), origin)


def habits(model: nn.Module, image: Tensor) -> tuple[Habit, ...]:
    """What one pass over ``image``, with gradients on, does beside computing, as far as it runs."""
    mode = _Habits(model)
    try:
        with _modules_made(mode), mode:
            computed(model(image))
    except (Exception, SystemExit) as raised:
        failure_in_bounds(raised)
    return tuple(mode.events)


@contextmanager
def _modules_made(mode: _Habits) -> Iterator[None]:
    built = nn.Module.__init__

    def noted(module: nn.Module, *args: Any, **kwargs: Any) -> None:
        mode.note("module", type(module).__name__)
        built(module, *args, **kwargs)

    setattr(nn.Module, "__init__", noted)  # noqa: B010  # torch has no hook for it, and mypy forbids the rest
    try:
        yield
    finally:
        setattr(nn.Module, "__init__", built)  # noqa: B010  # as above
