"""One forward pass, recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from torch import Tensor

from ..errors import Frame, StudentCodeFailed
from .question import IN_A_PASS, Natural, OfModel


class Reference(NamedTuple):  # of which a trace holds hundreds: a dataclass takes four times as long to make
    """A strided window on a record or a leaf."""

    kind: Literal["record", "leaf"]
    number: Natural
    offset: int
    shape: tuple[Natural, ...]
    strides: tuple[int, ...]

    def reads_as(self, other: Reference) -> bool:
        """Are these the same numbers in the same order, at most with other axes?"""
        same = (self.offset, math.prod(self.shape)) == (other.offset, math.prod(other.shape))
        return self == other or (same and self._straight and other._straight)

    @property
    def _straight(self) -> bool:
        """Is the memory read as it lies?"""
        steps = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return all(size == 1 or stride == step for size, stride, step in zip(self.shape, self.strides, steps))


@dataclass
class TensorRow:
    """One tensor that was made (a record) or only read (a leaf)."""

    op: str
    shape: tuple[Natural, ...]
    strides: tuple[int, ...]
    offset: int
    dtype: str
    count: Natural  # of the numbers in its memory
    image: bool  # does it depend on the image? (said by the child: a hint, not evidence)
    inputs: tuple[Reference, ...] = ()
    scalars: tuple[float, ...] = ()
    frames: tuple[Frame, ...] = ()  # the student's lines that made it, innermost first
    views: tuple[Frame, ...] = ()  # the other lines on which views of it were made, in order
    name: str = ""
    kind: str = ""  # of a leaf: parameter | buffer | tensor
    called: str = ""  # the names by which a script first reads it, such as "W.wq"
    made_at: Frame | None = None  # of a parameter, the student's line


class VisibleLocal(NamedTuple):
    """A local tensor variable that was visible at a breakpoint mark."""

    mark: int
    name: str
    reference: Reference


@dataclass(frozen=True)
class Failed:
    """The call that ended a pass: its name as the code writes it ("" where no call to torch raised).

    Tensors stand with the name of a variable that held them, or with an empty one. All of it is said by the
    child: a hint, for naming only.
    """

    op: str
    inputs: tuple[tuple[str, Reference], ...]
    numbers: tuple[float, ...]  # further arguments, such as the sizes that a view asks for
    locals: tuple[tuple[str, Reference], ...]  # on the line that raised


@dataclass(frozen=True, kw_only=True)
class PassOutcome:
    """What one pass came to, beside the tensors that it made."""

    signature: str  # equal where the same operations ran in the same order
    outputs: tuple[tuple[str, Reference], ...]  # path in the returned structure, such as "logits" or "0"
    sights: tuple[VisibleLocal, ...]
    left_out: tuple[tuple[str, str], ...]  # path of a returned tensor, and why no numbers are read
    error: StudentCodeFailed | None
    failed: Failed | None
    unread: Natural = 0  # how many parameters of the model were never read
    unused_views: tuple[Reference, ...] = ()  # the last of what the image leads to that no operation read


@dataclass(frozen=True, kw_only=True)
class Recorded(PassOutcome):
    """All of one pass, as it travels; ``host.trace.Trace`` is what it is read into."""

    records: tuple[TensorRow, ...]
    leaves: tuple[TensorRow, ...]
    cells: Tensor | None  # the memory of all records, then of all leaves; None where shapes are enough


@dataclass(frozen=True)
class Cure:
    """Other numbers for a window on a record, which stand there from when it is made."""

    record: Natural
    offset: Natural
    strides: tuple[Natural, ...]
    values: Tensor  # float64, in the shape of the window


@dataclass(frozen=True, kw_only=True)
class RecordPass(OfModel[Recorded]):
    """One pass in eval mode and float64; without an image, on shapes only."""

    name = "trace"
    doing = IN_A_PASS
    large_bytes = 2 << 30  # of a model that can only be built at ViT-B/16 size

    image: Tensor | None = None
    fixed: Mapping[str, Tensor] = field(default_factory=dict)  # parameters that are set and not drawn
    drawn: int | None = None  # a seed for the parameters, where nothing else shall be drawn anew
    marks: Sequence[tuple[str, int]] = ()  # file and line of each breakpoint mark
    cures: Sequence[Cure] = ()
