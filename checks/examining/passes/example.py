"""One traced pass of a submission, with every stage that was settled in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ....submissions.host.trace import Trace
from ...locating.context import Context
from ...locating.search.norms import Norm, standardised
from ...locating.search.parameter_search import LinearMap
from ...locating.walk import Walk
from ..drawing import Draw
from .replay import Seen, reference_pass

_SUMMED = {"norm2": ("block_input", "attention_output"), "norm3": ("post_attention_norm", "mlp_output")}


@dataclass(frozen=True)
class Example:
    """One draw, traced. The plan in ``walk`` may have been made on another trace."""

    draw: Draw
    trace: Trace
    walk: Walk
    seen: tuple[Seen, ...]

    def all(self, key: str) -> list[Seen]:
        """What was seen of a stage, block by block."""
        return [one for one in self.seen if one.step.key == key]

    def first(self, key: str) -> Seen | None:
        return next(iter(self.all(key)), None)

    @cached_property
    def reference(self) -> Mapping[tuple[str, int], Tensor]:
        """The tensors of the reference that carries the student's parameters, by stage key and block."""
        return reference_pass(self.walk, self.trace, self.draw.sizes)

    @cached_property
    def context(self) -> Context:
        """The student's own tensors of this pass."""
        context = self.walk.opened(self.trace, self.draw.sizes)
        context.stages.update({(one.step.key, one.step.block): one.student for one in self.seen})
        return context

    # What ``measures`` asks of a pass.

    @property
    def sizes(self) -> ModelSizes:
        return self.draw.sizes

    @property
    def class_row(self) -> int:
        return self.walk.class_row

    def stage(self, key: str, block: int = 0) -> Tensor:
        return self.context.stage(key, block)

    @property
    def stream(self) -> list[Tensor]:
        outputs = [self.stage("block_output", number) for number in range(1, self.walk.blocks + 1)]
        return [self.stage("block_input", 1), *outputs]

    def around_norm(self, role: str, seen: Seen) -> tuple[Tensor, Tensor]:
        block = seen.step.block
        norm = self.walk.roles[f"block{block}.{role}"]
        if not isinstance(norm, Norm):
            raise ValueError("batch norm is nothing a token has of its own")
        first, second = _SUMMED[role]
        after = standardised(self.context, seen.student, norm)
        return self.stage(first, block) + self.stage(second, block), after

    def before_activation(self, block: int) -> Tensor:
        first = self.walk.roles[f"block{block}.fc1"]
        if not isinstance(first, LinearMap):
            raise ValueError("the hidden layer is no linear map")
        return first(self.context, self.stage("post_attention_norm", block))
