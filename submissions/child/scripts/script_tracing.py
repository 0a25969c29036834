"""Child side: recording a script, which makes its own image and its own parameters while it runs."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook
from torch.utils._python_dispatch import _disable_current_modes

from ...errors import Frame
from ...questions.randomise import drawn
from ...questions.recording import Reference
from ..tracing.results import is_array
from ..tracing.tracing import Key, Storage, Tracer, storage_of, tensors_in, written_by
from .at_work import lines_at_work, names_of
from .script_windows import AXES_OF_IMAGES, Window, as_images

_MOST_NUMBERS = 30_000_000  # that are kept: 240 MB, where a submission's answer may have 256
_MOST_OPERATIONS = 50_000  # of one pass: twelve blocks with a loop over heads make some thousand
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm")
_SUMS = ("add.Tensor", "add_.Tensor")
_AXES_OF_TOKENS = 3

# of a record or leaf at any sizes: its kind, the innermost line of the code, and its number among those of it
Place: TypeAlias = tuple[str, Frame, int]


class LimitReached(RuntimeError):
    """A script goes on for longer than one pass does, as one does that trains its model."""


class TrainingBegins(LimitReached):
    """A script comes to its first backward pass: the forward pass is over."""


class ScriptTracer(Tracer):  # type: ignore[no-untyped-call]  # as in Tracer
    """Records a script in float64, whatever precision it asks for.

    A parameter gets random values when it is first read, or what ``fixed`` holds under its name: its place in
    that order, ``parameter0`` being the first. So does a matrix of zeros that something is multiplied by, as
    heads are initialised: behind it nothing would be seen; and a table of zeros that is added to tokens.
    ``image`` is written over what ``pictures`` names.
    """

    def __init__(
        self,
        seed: int,
        fixed: Mapping[str, Tensor],
        image: Tensor | None,
        pictures: Mapping[Place, Window],
        keep_cells: bool,
    ) -> None:
        super().__init__(nn.Module(), None, keep_cells)
        self._notes_views = True  # which show sizes, too
        self.tensors: dict[Key, Tensor] = {}  # what was recorded, by number
        self.windows: dict[Key, list[Window]] = {}  # on each of them, as far as they may show an image
        self.lines: list[Frame] = []  # of each record: the top-level statement that made it
        self.places: dict[Place, Key] = {}
        self._made_on: Counter[tuple[str, Frame]] = Counter()  # how many of a kind, on each line
        # records made in each call of a whole model, from a picture to its scores
        self.calls: list[range] = []
        self._depth = self._start = self._numbers = 0
        self._generator = torch.Generator().manual_seed(seed)
        self._fixed, self._image, self._pictures = fixed, image, pictures
        self._parameters: dict[int, bool] = {}  # storage: does it have its values?
        self._named = set[Key]()  # for which names were looked for

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self._demand_room()
        args, kwargs = _widened(args), _widened(dict(kwargs))
        changed = written_by(func, args, kwargs)
        if any(self._is_parameter(one) for one in changed):  # initialised: it gets other values yet
            return self._initialised(func, args, kwargs, changed)
        args, kwargs = self._alike(args), self._alike(kwargs)
        self._parameters |= {storage_of(one): False for one in _meant(func, args) if self._is_blank(one)}
        for tensor in tensors_in((args, kwargs)):
            if self._is_parameter(tensor):
                self._settle(tensor)
        before = len(self.records)
        result = super().run(func, args, kwargs)
        for tensor in tensors_in((args, kwargs)):
            self._call(tensor)
        self._count(before)
        for one in tensors_in(result):
            self._look_at(one)
        return result

    def _demand_room(self) -> None:
        if len(self.records) > _MOST_OPERATIONS:
            raise LimitReached(f"the script runs more than {_MOST_OPERATIONS} tensor operations")
        if self._numbers > _MOST_NUMBERS:
            raise LimitReached(f"the script computes more than {_MOST_NUMBERS:,} numbers, training included")

    def _call(self, tensor: Tensor) -> None:
        """Notes what the code calls it where it is first read as a whole."""
        owner = self._owner.get(storage_of(tensor))
        if owner is None or owner in self._named:
            return
        self._named.add(owner)
        row = self.storage(*owner)
        if tensor.numel() == row.count:
            row.called = names_of(tensor, sys._getframe())

    def _count(self, start: int) -> None:
        if self._keep_cells:
            self._numbers += sum(one.count for one in self.records[start:])

    def storage(self, kind: str, number: int) -> Storage:
        return (self.records if kind == "record" else self.leaves)[number]

    def tell(self, op: str, made: Tensor, given: Sequence[Tensor], frames: tuple[Frame, ...] = ()) -> None:
        """Records what was computed of these without torch, on these lines if not on those that run."""
        self._demand_room()
        with _disable_current_modes():
            inputs, before = tuple(self.refer(one) for one in given), len(self.records)
            self._add_record(op, made, any(map(self._depends, inputs)), inputs)
            self.records[-1].frames = frames or self.records[-1].frames
            self._count(before)
            self._look_at(made)

    def __enter__(self) -> ScriptTracer:
        self._hooks = [
            register_module_forward_pre_hook(self._called),
            register_module_forward_hook(self._returned, always_call=True),
        ]
        super().__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        super().__exit__(*raised)  # type: ignore[no-untyped-call]  # as in Tracer
        for hook in self._hooks:
            hook.remove()

    def has_scores(self, batch: int, classes: int) -> bool:
        """Was there a row of scores for each image?"""
        return any(one.shape == (batch, classes) for one in self.records)

    @property
    def multiplies(self) -> bool:
        """Was anything multiplied by a matrix, as all that a model computes is?"""
        return any(one.op.partition(".")[0] in (*PRODUCTS, "convolution") for one in self.records)

    def forget(self) -> None:
        """Lets go of the tensors that were recorded; their numbers stay, where they were kept."""
        self.tensors.clear()
        self._alive.clear()

    def _called(self, module: nn.Module, given: Any) -> None:
        module.training = False  # a try of what was written is judged as any model is, without dropout
        if not self._depth:
            self._start = len(self.records)
        self._depth += 1

    def _returned(self, module: nn.Module, given: Any, result: Any) -> None:
        self._depth -= 1
        image = next(iter(tensors_in(given)), None)
        pictured = image is not None and image.dim() == 4
        if not self._depth and pictured and any(one.dim() == 2 for one in tensors_in(result)):
            self.calls.append(range(self._start, len(self.records)))

    def _is_parameter(self, tensor: Tensor) -> bool:
        key = storage_of(tensor)
        learns = tensor.requires_grad and tensor.is_leaf and tensor.dim() != AXES_OF_IMAGES
        if learns or isinstance(tensor, nn.Parameter):
            self._parameters.setdefault(key, False)
        return key in self._parameters

    def _is_blank(self, tensor: Tensor) -> bool:
        """Is it a matrix of zeros that is computed of nothing, and that has no values of its own yet?

        While a script runs it is not known yet what is an image.
        """
        if storage_of(tensor) in self._parameters:
            return False
        kind, number = self._owner.get(storage_of(tensor), ("leaf", 0))
        is_computed = kind == "record" and bool(self.records[number].inputs)
        return tensor.dim() > 1 and not is_computed and is_array(tensor) and not tensor.any()

    def _may_depend(self, record: Storage) -> bool:
        """As far as is known: while a script runs it is not known yet what is an image."""
        return True

    def _initialised(self, func: Any, args: Any, kwargs: Any, changed: list[Tensor]) -> Any:
        for one in changed:
            self._owner.pop(storage_of(one), None)
        return func(*args, **kwargs)

    def _settle(self, parameter: Tensor) -> None:
        """Gives a parameter its values before it is read for the first time."""
        key = storage_of(parameter)
        if self._parameters[key] or not parameter.is_floating_point() or not parameter.numel():
            return
        name = f"parameter{sum(self._parameters.values())}"
        self._parameters[key] = True
        self._names[key] = (name, "parameter", None)
        self._owner.pop(key, None)
        self._alive.append(parameter)
        with torch.no_grad():
            values = self._fixed.get(name, drawn(parameter, self._generator))
            parameter.copy_(values.reshape(parameter.shape))

    def _alike(self, value: Any) -> Any:
        """Where float32 meets float64, as float64: what NumPy and files give is float32."""
        dtypes = {one.dtype for one in tensors_in(value)}
        if not {torch.float32, torch.float64} <= dtypes:
            return value
        return _mapped(value, lambda one: self._as_float64(one) if isinstance(one, Tensor) else one)

    def _as_float64(self, tensor: Tensor) -> Tensor:
        if tensor.dtype != torch.float32:
            return tensor
        inputs = (self.refer(tensor),)
        result = tensor.to(torch.float64)
        self._add_record("aten._to_copy.default", result, self._depends(inputs[0]), inputs)
        self._look_at(result)
        return result

    def _look_at(self, tensor: Tensor) -> None:
        owner = self._owner.get(storage_of(tensor))
        if owner is None or not tensor.is_floating_point():
            return
        known = self.windows.get(owner, [])
        views = [tensor] if known or not self._may_be_pixels(owner) else as_images(tensor.detach())
        every = [Window(tuple(one.shape), one.stride(), int(one.storage_offset())) for one in views]
        if new := [one for one in every if one.is_picture and one not in known]:
            self.windows[owner] = [*known, *new]

    def _may_be_pixels(self, key: Key) -> bool:
        """Is it drawn or read, and does it follow from nothing as large but such numbers, as images do?

        Or from whole numbers, as the pixels of a file are.
        """
        kind, number = key
        record = self.records[number] if kind == "record" else None
        if record is None or not record.inputs:
            return True
        large = [one for one in record.inputs if prod(one.shape) == prod(record.shape)]
        return bool(large) and all(
            (one.kind, one.number) in self.windows or "int" in self.storage(*one[:2]).dtype for one in large
        )

    def refer(self, tensor: Tensor) -> Reference:
        reference = super().refer(tensor)
        self._look_at(tensor)
        return reference

    def _keep(self, key: Key, tensor: Tensor) -> None:
        """Writes the image over the tensor where it is one of the pictures."""
        super()._keep(key, tensor)
        self.tensors[key] = tensor
        top, innermost = lines_at_work(sys._getframe())
        if key[0] == "record":
            self.lines.append(top)
        place = (key[0], innermost, self._made_on[key[0], innermost])
        self._made_on[key[0], innermost] += 1
        self.places[place] = key
        window = self._pictures.get(place)
        if window is None or self._image is None or window.shape != self._image.shape:
            return
        if window.fits(tensor):
            with torch.no_grad():
                window.of(tensor).copy_(self._image)


def _meant(func: Any, args: Sequence[Any]) -> Sequence[Tensor]:
    """Which of these are weights, or a table that is added to the tokens of several images."""
    name = func.name().partition("::")[2]
    if name not in (*PRODUCTS, *_SUMS):
        return ()
    given = [*tensors_in(args)]
    if name in PRODUCTS:
        return given
    tokens = max(given, key=Tensor.dim)
    if tokens.dim() != _AXES_OF_TOKENS or len(tokens) == 1 or tokens.shape[1] == tokens.shape[2]:
        return ()  # square ones hide what may not be attended to
    rows = tokens.shape[1:]
    return [one for one in given if one.shape[-2:] == rows and one.numel() == rows.numel()]


def _mapped(value: Any, function: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(one, function) for one in value)
    if isinstance(value, dict):
        return {name: _mapped(one, function) for name, one in value.items()}
    return function(value)


def _widened(value: Any) -> Any:
    return _mapped(value, lambda one: torch.float64 if one is torch.float32 else one)
