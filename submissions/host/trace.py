"""Parent side: what one forward pass of the student's model computed, as plain numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from ..errors import Frame, Refused
from ..questions.recording import Failed as Failed
from ..questions.recording import PassOutcome
from ..questions.recording import Reference as Reference
from ..questions.recording import VisibleLocal as VisibleLocal

_COPIES = ("clone", "_to_copy", "contiguous")


@dataclass(frozen=True)
class Value:
    """One tensor that was made (a record) or only read (a leaf).

    ``cells`` is its whole memory, flat; on the meta device where only shapes were asked for.
    """

    number: int
    op: str
    reference: Reference
    dtype: str
    image: bool  # does it depend on the image? (said by the child: a hint, not evidence)
    inputs: tuple[Reference, ...]
    scalars: tuple[float, ...]
    frames: tuple[Frame, ...]  # the student's lines that made it, innermost first
    name: str
    kind: str  # of a leaf: parameter | buffer | tensor
    cells: Tensor
    called: str = ""  # what a script calls it where it first reads it, such as "W.wq"
    made_at: Frame | None = None  # of a parameter, the student's line
    views: tuple[Frame, ...] = ()  # the student's other lines on which views of it were made, in order

    @property
    def shape(self) -> tuple[int, ...]:
        return self.reference.shape

    def is_made_with(self, other: Value) -> bool:
        """Did one operation make both? A norm makes its mean and its spread, too."""
        return (self.op, self.inputs) == (other.op, other.inputs)

    @property
    def is_copy(self) -> bool:
        """Are these the numbers of its input again, in the order in which that reads them?"""
        return self.op.partition(".")[0] in _COPIES

    @property
    def writes(self) -> bool:
        """Was it written over the first of its inputs?"""
        return self.op.partition(".")[0].endswith("_")


@dataclass(frozen=True, kw_only=True)
class Trace(PassOutcome):
    """All of one pass. ``records[0]`` is the image."""

    records: tuple[Value, ...]
    leaves: tuple[Value, ...]
    begun: bool = False  # does a pass come to its end and give no scores yet, or that of a part nothing?

    @property
    def gives_back_image(self) -> bool:
        """Does it return what it was given, as it was given, and nothing else?"""
        numbers = [where.number for _, where in self.outputs if where.kind == "record"]
        return bool(numbers) and not any(numbers) and len(numbers) == len(self.outputs)

    def value(self, reference: Reference) -> Value:
        return (self.records if reference.kind == "record" else self.leaves)[reference.number]

    def references(self) -> Iterator[Reference]:
        """Every window that anything in it looks through."""
        for value in (*self.records, *self.leaves):
            yield from (value.reference, *value.inputs)
        yield from (where for _, where in self.outputs)
        yield from (local.reference for local in self.sights)
        yield from self.unused_views
        if self.failed is not None:
            yield from (where for _, where in (*self.failed.inputs, *self.failed.locals))

    def tensor(self, reference: Reference) -> Tensor:
        """The numbers in that window, float64.

        Raises Refused if it reaches outside of its memory.
        """
        cells = self.value(reference).cells
        last = reference.offset + sum(
            (size - 1) * stride for size, stride in zip(reference.shape, reference.strides)
        )
        if 0 in reference.shape:
            return cells.new_empty(reference.shape)
        if reference.offset < 0 or min(reference.strides, default=0) < 0 or last >= cells.numel():
            raise Refused("the trace describes a tensor that reaches outside of its memory")
        # as_strided counts from the storage, not from the slice
        start = cells.storage_offset() + reference.offset
        return torch.as_strided(cells, reference.shape, reference.strides, start)

    def ancestors(self, reference: Reference) -> frozenset[int]:
        """The numbers of the records that a tensor is made from, and of its own: as the child says."""
        todo, found = [reference], set()
        while todo:
            one = todo.pop()
            if one.kind == "record" and one.number not in found:
                found.add(one.number)
                todo += self.records[one.number].inputs
        return frozenset(found)

    @cached_property
    def returned_from(self) -> frozenset[int]:
        """The numbers of the records that what is returned is made from."""
        return frozenset[int]().union(*(self.ancestors(reference) for _, reference in self.outputs))

    @cached_property
    def parameters_read(self) -> frozenset[str]:
        """The names of those that what is returned is made from."""
        read = (one for number in self.returned_from for one in self.records[number].inputs)
        return frozenset(self.leaves[one.number].name for one in read if one.kind == "leaf")

    @cached_property
    def image(self) -> Reference:
        """The image as the stages read it, which is not the one given where the pass first writes into it."""
        last = self.records[0].reference
        written = last
        for record in self.records[1:]:
            reads = any((one.kind, one.number) == ("record", written.number) for one in record.inputs)
            if reads and record.writes and record.inputs[0].number == written.number:
                written = last._replace(number=record.number)
            elif reads:
                last = written
        return last

    @cached_property
    def uses(self) -> tuple[Use, ...]:
        """What does not depend on the image and met something that does, in order: parameters, in effect."""
        return tuple(use for use in self.all_uses if self.records[use.record].image)

    @cached_property
    def all_uses(self) -> tuple[Use, ...]:
        """The same, and what met nothing that depends on the image."""
        return tuple(
            Use(record.number, position)
            for record in self.records
            for position, reference in enumerate(record.inputs)
            if not self.value(reference).image
        )

    def used(self, use: Use) -> Reference:
        """The parameter's own numbers: copies are followed back, axes that only repeat are dropped."""
        reference = self.records[use.record].inputs[use.position]
        if use.whole:
            return self.value(reference).reference
        while reference.kind == "record":
            value = self.records[reference.number]
            whole = len(value.inputs) == 1 and reference.reads_as(value.reference)
            if not whole or not (value.is_copy or _repeats(value)):
                break
            reference = value.inputs[0]
        if 0 not in reference.strides:
            return reference
        kept = [axis for axis, stride in enumerate(reference.strides) if stride or reference.shape[axis] == 1]
        return reference._replace(
            shape=tuple(reference.shape[axis] for axis in kept),
            strides=tuple(reference.strides[axis] for axis in kept),
        )


def _repeats(value: Value) -> bool:
    """The same numbers along axes that its input had not, or had one of."""
    pairs = zip(value.shape[::-1], value.inputs[0].shape[::-1])
    return value.op.startswith("repeat.") and all(before in (1, after) for after, before in pairs)


class Use(NamedTuple):
    """Input ``position`` of a record: names a parameter as it was consumed, at any size."""

    record: int
    position: int
    whole: bool = False  # all of the leaf, where a slice of it was consumed
