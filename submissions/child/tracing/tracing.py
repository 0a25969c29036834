"""Child side: every tensor operation of one forward pass, recorded below autograd.

Composite calls (linear, einsum, library attention, encoder layers, einops) arrive here taken apart into a
few dozen primitive operations, whatever style the code is written in.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, Literal

import torch
from torch import Tensor, nn

from ...errors import Frame
from ...questions.recording import Cure, Reference, TensorRow
from ...reading.code import STUDENT_PREFIX
from .dispatch_mode import Mode
from .made_at import made_at
from .results import is_array

Key = tuple[Literal["record", "leaf"], int]  # and its number
RAN: dict[int, CodeType] = {}  # all code that was seen at work in any pass, by its identity
_UNWRITTEN = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
_FILLED_WITH = 0.7071e-3  # no number that a stage is full of
_VIEWS_KEPT = 4  # lines of one record
_LAST_VIEWS = 48  # of a pass: cut into heads, queries, keys and values are three of each
_FRAMES_KEPT = 6  # innermost student lines: from a helper of attention out to where blocks are called


@dataclass
class Storage(TensorRow):
    """The memory of one value. ``cells`` is a flat copy of it, taken when the value was made."""

    cells: Tensor | None = None  # None where only shapes are asked for


class Tracer(Mode):
    """Records what runs inside it: values made (``records``) and leaves read; views of them are neither.

    Where ``cures`` give other numbers, all that runs afterwards reads these.
    """

    def __init__(
        self,
        model: nn.Module,
        image: Tensor | None,
        keep_cells: bool = True,
        cures: Sequence[Cure] = (),
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # as above
        self._cures = cures
        self.records: list[Storage] = []
        self.leaves: list[Storage] = []
        self.views = deque[Reference](maxlen=_LAST_VIEWS)  # of what may depend on the image
        self._keep_cells = self._notes_views = keep_cells
        self._alive: list[Tensor] = []  # a storage must not be freed: its address would be used again
        self._owner: dict[int, Key] = {}
        self._odd: list[Tensor] = []  # made from the image, and no array: sparse, say
        self._names = _names_of_storages(model)
        self._outermost: FrameType | None = None  # below which no student's code is at work
        if image is not None:
            self._add_record("input", image, image=True)

    def __enter__(self) -> Tracer:
        self._outermost = sys._getframe(1)
        return super().__enter__()  # type: ignore[no-untyped-call,no-any-return]  # as above

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        given = flat((args, kwargs))
        inputs = tuple(self.refer(one) for one in given if self._is_recorded(one))
        depends = any(map(self._depends, inputs)) or any(one is odd for one in given for odd in self._odd)
        result = func(*args, **kwargs)
        if func._schema.name.removeprefix("aten::") in _UNWRITTEN and result.is_floating_point():
            result.fill_(_FILLED_WITH)  # or it holds what an earlier pass left there, such as a whole stage
        written = [one for one in written_by(func, args, kwargs) if self._is_recorded(one)]
        made = [one for one in flat((result,)) if self._is_recorded(one) and not self._is_view(one, written)]
        made += [one for one in written if not any(one is other for other in made)]
        if self._notes_views:
            for tensor in flat((result,)):
                if self._is_recorded(tensor) and not any(tensor is one for one in made):
                    self._note_view(tensor)
        if made:
            scalars = tuple(float(one) for one in given if type(one) in (int, float) and math.isfinite(one))
            for tensor in made:
                self._add_record(str(func), tensor, depends, inputs, scalars)
        elif depends:
            self._odd += [one for one in tensors_in(result) if not is_array(one)]
        return result

    def _is_recorded(self, value: Any) -> bool:
        """Is it a tensor whose numbers can be copied? Where shapes are asked for, it need have none."""
        return isinstance(value, Tensor) and (is_array(value) or (value.is_meta and not self._keep_cells))

    @property
    def unread(self) -> int:
        """How many parameters of the model no operation read."""
        read = {one.name for one in self.leaves}
        return sum(kind == "parameter" and name not in read for name, kind, _ in self._names.values())

    def take_cells(self) -> Tensor | None:
        """All cells, one after the other, if they are kept; nothing can be recorded or referred to after it.

        Each is given up as it is copied, since both together may be gigabytes.
        """
        self._alive.clear()
        self._outermost = None
        if not self._keep_cells:
            return None
        values = self.records + self.leaves
        taken, start = torch.empty(sum(one.count for one in values), dtype=torch.float64), 0
        for value in values:
            assert value.cells is not None
            taken[start : start + value.count] = value.cells
            value.cells, start = None, start + value.count
        return taken

    @property
    def unused_views(self) -> tuple[Reference, ...]:
        """Of the last views, those that no operation read."""
        read = {one for record in self.records for one in record.inputs}
        return tuple(one for one in dict.fromkeys(self.views) if one not in read)

    def _is_view(self, tensor: Tensor, written: list[Tensor]) -> bool:
        return storage_of(tensor) in self._owner and not any(tensor is one for one in written)

    def reference(self, tensor: Tensor) -> Reference | None:
        """Where ``tensor`` lies among what was recorded."""
        if not is_array(tensor) or storage_of(tensor) not in self._owner:
            return None
        return self.refer(tensor)

    def refer(self, tensor: Tensor) -> Reference:
        """Where ``tensor`` lies; what was never read before becomes a leaf."""
        key = storage_of(tensor)
        if key not in self._owner:
            self._keep(("leaf", len(self.leaves)), tensor)
            leaf = self._describe("leaf", tensor, image=False)
            leaf.name, leaf.kind, leaf.made_at = self._names.get(key, ("", "tensor", None))
            self.leaves.append(leaf)
        kind, number = self._owner[key]
        lies = _real(tensor)
        return Reference(kind, number, int(lies.storage_offset()), tuple(lies.shape), lies.stride())

    def _depends(self, reference: Reference) -> bool:
        return reference.kind == "record" and self.records[reference.number].image

    def _add_record(
        self,
        op: str,
        tensor: Tensor,
        image: bool,
        inputs: tuple[Reference, ...] = (),
        scalars: tuple[float, ...] = (),
    ) -> None:
        previous = self._owner.get(storage_of(tensor))
        if previous is not None and previous[0] == "record":  # written in place: the rest of the buffer stays
            image = image or self.records[previous[1]].image
        self._keep(("record", len(self.records)), tensor)
        for cure in self._cures:
            if cure.record == len(self.records):
                tensor.detach().as_strided(cure.values.shape, cure.strides, cure.offset).copy_(cure.values)
        record = self._describe(op, tensor, image)
        record.inputs, record.scalars = inputs, scalars
        record.frames = student_frames(sys._getframe(), self._outermost)
        self.records.append(record)

    def _note_view(self, tensor: Tensor) -> None:
        kind, number = self._owner.get(storage_of(tensor), ("leaf", 0))
        record = self.records[number] if kind == "record" else None
        if record is None or not self._may_depend(record):
            return
        self.views.append(self.refer(tensor))
        if len(record.views) == _VIEWS_KEPT:
            return
        for line in student_frames(sys._getframe(), self._outermost)[:1]:
            if line not in (*record.views, *record.frames[:1]):
                record.views += (line,)

    def _may_depend(self, record: Storage) -> bool:
        """On the image."""
        return record.image

    def _keep(self, key: Key, tensor: Tensor) -> None:
        """Before its numbers are copied: ``tensor`` is this record or leaf from now on."""
        self._alive.append(tensor)
        self._owner[storage_of(tensor)] = key

    def _describe(self, op: str, tensor: Tensor, image: bool) -> Storage:
        tensor = _real(tensor)
        return Storage(
            op=op.removeprefix("aten."),
            shape=tuple(tensor.shape),
            strides=tuple(tensor.stride()),
            offset=int(tensor.storage_offset()),
            dtype=str(tensor.dtype).removeprefix("torch."),
            cells=_cells(tensor) if self._keep_cells else None,
            count=_count(tensor),
            image=image,
        )


def flat(values: Iterable[Any]) -> list[Any]:
    """Arguments or results of an operation without their nesting, in a tenth of ``tree_flatten``'s time."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found += flat(value)
        elif isinstance(value, dict):
            found += flat(value.values())
        else:
            found.append(value)
    return found


def tensors_in(value: Any) -> list[Tensor]:
    """Those among arguments or results, in lists, tuples and dictionaries."""
    return [one for one in flat((value,)) if isinstance(one, Tensor)]


def storage_of(tensor: Tensor) -> int:
    """Equal for tensors that share their memory, as long as one of them lives."""
    return int(tensor.untyped_storage()._cdata)


def _real(tensor: Tensor) -> Tensor:
    """The same memory, with an axis more for the two parts of each number where they are complex."""
    return torch.view_as_real(tensor.detach().resolve_conj()) if tensor.is_complex() else tensor


def _count(tensor: Tensor) -> int:
    return tensor.untyped_storage().nbytes() // tensor.element_size()


def _cells(tensor: Tensor) -> Tensor:
    """A flat copy of the whole storage, so that views of it can be found by offset and strides."""
    plain = tensor.detach()
    return torch.as_strided(plain, (_count(plain),), (1,), 0).to(torch.float64, copy=True)


def written_by(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
    """List the tensors that an operation changes in place, as its schema says."""
    if not func._schema.is_mutable:
        return []
    found = []
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[position] if position < len(args) else kwargs.get(argument.name)
            found += tensors_in(value)
    return found


def _names_of_storages(model: nn.Module) -> dict[int, tuple[str, str, Frame | None]]:
    """By the storage of what is registered, its name and kind, and of a parameter where it was made."""
    names: dict[int, tuple[str, str, Frame | None]] = {}
    for name, buffer in model.named_buffers():
        names[storage_of(buffer)] = (name, "buffer", None)
    for name, parameter in model.named_parameters():
        names[storage_of(parameter)] = (name, "parameter", made_at(parameter))
    return names


def student_frames(frame: FrameType | None, outermost: FrameType | None = None) -> tuple[Frame, ...]:
    """The innermost lines of the student's own code on the stack, as far as what is ``outermost``."""
    found: list[Frame] = []
    while frame is not None and frame is not outermost and len(found) < _FRAMES_KEPT:
        code = frame.f_code
        RAN[id(code)] = code  # to hash it would take ten times as long
        file = _own_file(code.co_filename)
        if file is not None:
            found.append(Frame(file, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


@lru_cache(maxsize=1024)
def _own_file(file: str) -> str | None:
    """As it is called in the submission, if it is the student's; kept, since an operation has many frames."""
    return file.removeprefix(STUDENT_PREFIX) if file.startswith(STUDENT_PREFIX) else None
