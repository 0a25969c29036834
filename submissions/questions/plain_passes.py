"""Plain passes, and what they leave behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import StudentCodeFailed
from .question import IN_A_PASS, Natural, OfModel, Share


@dataclass(frozen=True)
class Gradient:
    """What a backward pass gave one parameter; ``largest`` is a magnitude, 0 where there is none."""

    asked: bool  # is it a parameter that requires one?
    exists: bool
    finite: bool
    largest: float
    idle: Share  # of the rows, or of the columns, those in which it is 0 everywhere


@dataclass(frozen=True)
class PlainPass:
    """One plain forward pass."""

    outputs: tuple[tuple[str, str], ...]  # path, dtype
    tensors: tuple[Tensor, ...]  # float64, whatever they were
    image_after: Tensor
    random_state_kept: bool
    random_state: str  # after it; equal where it is the same
    mode_kept: bool

    def __post_init__(self) -> None:
        if len(self.tensors) != len(self.outputs) or {one.dtype for one in self.tensors} - {torch.float64}:
            raise ValueError(f"{len(self.outputs)} outputs come with other tensors")


@dataclass(frozen=True)
class Passes:
    """Several plain passes on one model, and what they left behind."""

    passes: tuple[PlainPass, ...]
    changed: tuple[str, ...]  # names of parameters, and of buffers that passes after the first changed
    created: tuple[str, ...]  # names of tensors that were not there before
    gradients: Mapping[str, Gradient]  # by parameter
    graphs_kept: tuple[Natural, ...]  # tensors with their graph that the model holds after each backward pass
    error: StudentCodeFailed | None


@dataclass(frozen=True, kw_only=True)
class RunPasses(OfModel[Passes]):
    """Passes over ``images`` (in ``order``), then a backward pass on the last if asked for.

    Each pass has one of the ``modes``, eval where there are none: "train" and "eval", both without gradients,
    and "graph", eval mode with them.
    """

    name = "forward"
    doing = IN_A_PASS

    images: Sequence[Tensor]
    order: Sequence[int] = ()
    modes: Sequence[str] = ()
    dtype: str = "float64"
    channels_last: bool = False  # are the same images laid out in memory as image files are?
    wider: int = 0  # added to the width of the tokens, whether the heads divide it or not
    backward: bool = False
    switches: bool = False  # is every argument of the forward pass on that is off by default?
    begun: bool = False  # does it count as returned, of what ends early, what nothing was computed with yet?

    @property
    def each(self) -> list[tuple[Tensor, str]]:
        """The image and the mode of each pass."""
        images = [self.images[number] for number in self.order or range(len(self.images))]
        return [*zip(images, self.modes or ["eval"] * len(images), strict=True)]

    def demand(self, answer: Passes) -> None:
        if answer.error is None and len(answer.passes) != len(self.each):
            raise ValueError(f"{len(answer.passes)} passes instead of {len(self.each)}")
