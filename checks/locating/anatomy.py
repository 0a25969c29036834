"""What the walk asks of an architecture: how stages before and after the blocks are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from torch import Tensor

from ..architecture.family import Family
from .context import Predict
from .forms import PROBABILITIES, WHOLE_ATTENTION, Form
from .walk import Tries, Walk

Input = tuple[Predict, tuple[str, ...]]  # what the readout may read, and what is wrong about reading it


def _nothing(*_: object) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """How the stages of one architecture are found.

    The blocks are followed by the same walk in every architecture; ``embed`` leads to them, from the input to
    the stage "positioned_tokens", and ``read_out`` on, from the last block to the last stage.
    """

    embed: Callable[[Walk], bool]  # settles what comes before the blocks; False where the walk is stuck
    read_out: Callable[[Walk, list[Input], bool], bool]  # by known mistakes, too, if the last is True
    answers: Callable[[Tensor], Iterator[Tensor]]  # what a model may return, given its logits
    probabilities: tuple[Form, ...] = PROBABILITIES  # from scores and queries; the right one first
    whole_attention: tuple[Form, ...] = WHOLE_ATTENTION  # contexts of attention over wrong axes
    read_out_oddly: Callable[[Walk, Predict], object] = _nothing  # where no known equation leads on
    about: Callable[[Walk], None] = _nothing  # adds what stages show together
    known_otherwise: Callable[[Walk], Walk | None] = _nothing  # of a walk that got lost
    steps_on: Mapping[str, Tries] = field(default_factory=dict)  # past a stage, in a pass that stops


@cache
def anatomy_of(family: Family) -> Anatomy:
    """Raises ArchitectureError where it cannot be loaded."""
    return family.loaded(family.anatomy_at, Anatomy)
