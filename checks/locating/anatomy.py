"""What the walk asks of an architecture: how stages before and after the blocks are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from torch import Tensor

from ...submissions.host.trace import Reference
from ..architecture.family import Family
from .best_first import Node, Option
from .context import Predict
from .walk import Walk
from .wiring.blocks import KINDS, BlockKind

Input = tuple[Predict, tuple[str, ...]]  # what the readout may read, and what is wrong about reading it


def _nothing(*_: object) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """How the stages of one architecture are found.

    The blocks are followed by the same walk in every architecture; ``embed`` has the ways to them, from the
    input to the stage "positioned_tokens", and ``read_out`` those on, from what it reads to the last stage.
    """

    embed: Node
    read_out: Callable[[Walk, Input], Iterable[Option]]
    answers: Callable[[Tensor], Iterator[Tensor]]  # what a model may return, given its logits
    blocks: tuple[BlockKind, ...] = KINDS  # that its encoder may be made of
    about_learned: Callable[[Walk, Reference], None] = _nothing  # adds what is wrong with a learned vector
    about: Callable[[Walk], None] = _nothing  # adds what stages show together
    known_otherwise: Callable[[Walk], Walk | None] = _nothing  # of a walk that got lost


@cache
def anatomy_of(family: Family) -> Anatomy:
    """Raises ArchitectureError where it cannot be loaded."""
    return family.loaded(family.anatomy_at, Anatomy)
