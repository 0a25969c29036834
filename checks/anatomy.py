"""What grading asks of an architecture beside its table: how stages are found, what always holds of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from torch import Tensor

from ..reference.model_sizes import ModelSizes
from .locating.context import Predict
from .locating.forms import PROBABILITIES, WHOLE_ATTENTION, Form
from .locating.walk import Tries, Walk

if TYPE_CHECKING:
    from .example import Example
    from .invariants import Invariant
    from .kept.measures import Measure
    from .outputs import Forms
    from .properties import Property

Input = tuple[Predict, tuple[str, ...]]  # what the readout may read, and what is wrong about reading it
Integer = Callable[[int, int], int]  # a number from a range, both ends included


def _nothing(*_: object) -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Anatomy:
    """How the stages of one architecture are found and judged.

    The blocks are followed by the same walk in every architecture; ``embed`` leads to them, from the input to
    the stage "positioned_tokens", and ``read_out`` on, from the last block to the last stage.
    """

    embed: Callable[[Walk], bool]  # settles what comes before the blocks; False where the walk is stuck
    read_out: Callable[[Walk, list[Input], bool], bool]  # by known mistakes, too, if the last is True
    probabilities: tuple[Form, ...] = PROBABILITIES  # from scores and queries; the right one first
    whole_attention: tuple[Form, ...] = WHOLE_ATTENTION  # contexts of attention over wrong axes
    read_out_oddly: Callable[[Walk, Predict], object] = _nothing  # where no known equation leads on
    about: Callable[[Walk], None] = _nothing  # adds what stages show together
    known_otherwise: Callable[[Walk], Walk | None] = _nothing  # of a walk that got lost
    steps_on: Mapping[str, Tries] = field(default_factory=dict)  # past a stage, in a pass that stops

    draw: Callable[[Integer], ModelSizes]  # small sizes, for one example
    suits: Callable[[Any], bool]  # do they hide no mistake?
    tells_apart: Callable[[Any], bool]  # ... as far as axes go that might be exchanged?
    fresh: ModelSizes  # wide enough to tell how weights are spread
    invariants: Mapping[str, Invariant]  # by stage
    properties: Mapping[str, Property]  # of the whole model, by name
    answers: Callable[[Tensor], Iterator[Tensor]]  # what a model may return, given its logits
    measures: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)  # for figures, by stage
    outputs: Mapping[str, Callable[[Example], Forms]] = field(default_factory=dict)  # beside the scores
    parameters: Callable[[ModelSizes, str], int] | None = None  # how many a right model has, by kind of block
