"""What the sizes of every architecture have in common, and what a model of them reads. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, make_dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class ModelSizes:
    """Base of the sizes of one architecture: a frozen dataclass with a whole number in each field.

    A subclass has the fields ``batch``, ``embed_dim``, ``heads``, ``mlp_dim`` and ``depth``, something called
    ``tokens`` (the length of the sequence that the blocks read), and whatever else its shapes depend on.
    Raises ValueError, naming both numbers, where sizes do not fit each other.
    """

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}  # where a file says the sizes

    letters: ClassVar[Mapping[str, str]]  # the axis that each field is the size of, as the stage table has it
    input_axes: ClassVar[str]  # of what the model reads, such as "B T"
    input_below: ClassVar[str | None] = (
        None  # the axis whose size whole numbers stay below; None: real numbers
    )
    names: ClassVar[Mapping[str, str]] = {}  # what constructor arguments of a meaning are called, with spaces
    output_axes: ClassVar[str] = "B K"  # of the scores that the model returns
    lengths: ClassVar[tuple[str, ...]]  # fields that nothing but positions ties a model to

    if TYPE_CHECKING:  # a subclass gives them in an order of its own
        batch: int
        embed_dim: int
        heads: int
        mlp_dim: int
        depth: int

        def __getattr__(self, name: str) -> Any:
            """What one architecture has beside these."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name} is {value}, and must be at least 1")
        if self.embed_dim % self.heads:
            raise ValueError(f"embed_dim {self.embed_dim} is not a multiple of heads {self.heads}")

    @property
    def head_dim(self) -> int:
        return self.embed_dim // self.heads

    @property
    def axes(self) -> dict[str, int]:
        """The size of each axis by the letter that the stage table uses; ``d`` is the width of a head."""
        sized = {letter: int(getattr(self, name)) for name, letter in self.letters.items()}
        return sized | {"d": self.head_dim}

    @property
    def input_shape(self) -> tuple[int, ...]:
        return tuple(self.axes[letter] for letter in self.input_axes.split())

    @property
    def output_shape(self) -> tuple[int, ...]:
        return tuple(self.axes[letter] for letter in self.output_axes.split())

    def input(self, seed: int) -> Tensor:
        """Return what a model reads, drawn from ``seed``: standard normal in float64, or whole numbers."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        if self.input_below is None:
            return torch.randn(self.input_shape, generator=generator, dtype=torch.float64)
        return torch.randint(self.axes[self.input_below], self.input_shape, generator=generator)


AnySizes = TypeVar("AnySizes", bound=ModelSizes)  # the same class in as out

_DESCRIBED = ("letters", "input_axes", "input_below", "names", "output_axes", "lengths")


def description(small: ModelSizes) -> dict[str, Any]:
    """Return the class of ``small``, and its values as sizes to try, as plain data for ``described``."""
    return {**{name: getattr(small, name) for name in _DESCRIBED}, "small": asdict(small)}


def described(data: Mapping[str, Any]) -> ModelSizes:
    """Return sizes of a class that does what the described one does, without any of its package's code."""
    fields = [(name, int) for name in data["small"]]
    own = {name: data[name] for name in _DESCRIBED}
    kind = make_dataclass("DescribedSizes", fields, bases=(ModelSizes,), namespace=own, frozen=True)
    sizes: ModelSizes = kind(**data["small"])
    return sizes
