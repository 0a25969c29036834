"""Single components of a submission, and its functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from ...reference.model_sizes import ModelSizes
from ..errors import Frame
from .question import Question

Given = Mapping[str, Sequence[object]]  # choices by role


@dataclass(frozen=True)
class FoundDefinition:
    """A class or function, and where it stands."""

    name: str
    frame: Frame


@dataclass(frozen=True)
class Fitting(FoundDefinition):
    """One that may be a component; ``error`` is why it cannot be built."""

    function: bool
    lines: bool  # of a script, which goes on when more of it is written?
    named: bool  # does its name say what it is?
    fits: bool  # does it take and give the component's shapes?
    error: str | None


@dataclass(frozen=True, kw_only=True)
class FindComponents(Question[tuple[Fitting, ...]]):
    """What may be the component ``key``, the likeliest first; nothing but ``pin`` where that is said."""

    name = "components"

    key: str
    pin: str | None


@dataclass(frozen=True, kw_only=True)
class FindFunctions(Question[tuple[FoundDefinition, ...]]):
    """What may be the exercise ``key``, the likeliest first; nothing but ``pin`` where that is said."""

    name = "functions"

    key: str
    pin: str | None


@dataclass(frozen=True)
class ModelArgument:
    """A model as an argument: the submission's own, or a sample of ours, as it was traced."""

    sizes: ModelSizes
    seed: int
    sample: str | None


@dataclass(frozen=True)
class FunctionOutputs:
    """What a function gave back: every tensor or array, float64, and what dtype each had."""

    tensors: tuple[Tensor, ...]
    dtypes: tuple[str, ...]
    roles: tuple[str, ...]  # that its parameters play

    def __post_init__(self) -> None:
        if len(self.tensors) != len(self.dtypes):
            raise ValueError(f"{len(self.dtypes)} dtypes come with {len(self.tensors)} tensors")


@dataclass(frozen=True, kw_only=True)
class CallFunction(Question[FunctionOutputs]):
    """One call of a function; ``given`` has the choices for each role, in the order of arguments."""

    name = "call"

    key: str
    number: int
    seed: int
    given: Given
