"""One trace, and the student's own tensor of each stage that has been settled in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ...submissions.host.trace import Trace, Use


@dataclass
class Context:
    """What equations read. ``stages`` is keyed by stage key and block (0 outside of the blocks).

    What is predicted is kept, until a stage that it may read is revised. ``instead`` are predictions that
    stand in for others, of what lies between two stages.
    """

    trace: Trace
    sizes: ModelSizes
    stages: dict[tuple[str, int], Tensor] = field(default_factory=dict)
    instead: dict[Predict, Predict] = field(default_factory=dict)
    _made: dict[Predict, Tensor] = field(default_factory=dict, init=False, repr=False)
    _used: dict[Use, Tensor] = field(default_factory=dict, init=False, repr=False)

    def forked(self) -> Context:
        """One in which other stages may be settled."""
        other = replace(self, stages=dict(self.stages), instead=dict(self.instead))
        other._made, other._used = dict(self._made), self._used
        return other

    def stage(self, key: str, block: int = 0) -> Tensor:
        return self.stages[key, block]

    def settle(self, key: str, block: int, tensor: Tensor) -> None:
        """Takes ``tensor`` for a stage."""
        if self.stages.get((key, block), tensor) is not tensor:
            self._made.clear()
        self.stages[key, block] = tensor

    def read_instead(self, others: Mapping[Predict, Predict]) -> None:
        """Has each of the ``others`` stand in for its key, wherever that is read."""
        if others:
            self.instead.update(others)
            self._made.clear()

    def use(self, use: Use) -> Tensor:
        """A parameter as it was consumed, at this trace's sizes."""
        if use not in self._used:
            self._used[use] = self.trace.tensor(self.trace.used(use))
        return self._used[use]

    def of(self, predict: Predict) -> Tensor:
        """What ``predict`` gives here."""
        if predict not in self._made:
            self._made[predict] = self.instead.get(predict, predict)(self)
        return self._made[predict]

    @property
    def image(self) -> Tensor:
        return self.trace.tensor(self.trace.image)


def as_rows(tensor: Tensor, width: int) -> Tensor:
    """Rows of ``width`` numbers, on whichever axis they lie: a table may be kept feature by feature."""
    axes = [axis for axis, size in enumerate(tensor.shape) if size == width]
    return (tensor.movedim(axes[-1], -1) if axes else tensor).reshape(-1, width)


# A prediction that can be repeated on any trace with the same operations.
Predict = Callable[[Context], Tensor]
