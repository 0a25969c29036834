"""Parent side: what a model holds when it is fresh, and how its forward pass behaves beside its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from ..errors import Frame
from .code_places import Code

TRAIN = "train", "train again", "train once more", "train at last"  # passes in train mode, by name of the use


@dataclass(frozen=True)
class Held:
    """A tensor that a fresh model holds.

    ``kind`` is parameter, buffer, tensor (a plain attribute) or hidden (a parameter that no module knows of).
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    computed: bool  # is it the result of an operation that gradients flow through?
    constant: bool  # is it one number everywhere?
    zero: bool
    spread: float  # standard deviation
    digest: str  # equal where all values are


@dataclass(frozen=True)
class Inventory:
    """What a fresh model holds."""

    tensors: tuple[Held, ...]
    modules: Mapping[
        str, tuple[str, ...]
    ]  # by path, the names of its class and those that it is derived from, by their places
    shared: tuple[str, ...]  # parameters that a second model, built separately, holds too
    codes: tuple[Code, ...] = ()  # what its classes consist of, and what has run

    def named(self, name: str) -> Held | None:
        return next((one for one in self.tensors if one.name == name), None)


@dataclass(frozen=True)
class Habit:
    """Something that a forward pass does beside computing; ``habits.habits`` lists the kinds."""

    kind: str
    what: str
    frames: tuple[Frame, ...]  # lines of the student's code, innermost first


@dataclass(frozen=True)
class Prepared:
    """What a student's preprocessing makes of each picture of ``images.PICTURES``."""

    name: str  # of the function or transform
    is_function: bool
    tensors: Mapping[str, Tensor]  # float64
    dtypes: Mapping[str, str]
    errors: Mapping[str, str]  # why there is no tensor


def inventory_in(reply: Mapping[str, Any]) -> Inventory:
    """What a reply says; raises as reading any malformed one does."""
    return Inventory(
        tuple(_held(one) for one in reply["tensors"]),
        {str(name): tuple(str(one) for one in classes) for name, classes in reply["modules"]},
        tuple(str(name) for name in reply["shared"]),
        tuple(_code(*one) for one in reply["codes"]),
    )


def _code(place: object, name: object, handed_in: object, digest: object, lines: Any) -> Code:
    return Code(str(place), str(name), bool(handed_in), str(digest), int(lines))


def _held(row: Mapping[str, Any]) -> Held:
    return Held(
        name=str(row["name"]),
        kind=str(row["kind"]),
        shape=tuple(int(one) for one in row["shape"]),
        computed=bool(row["computed"]),
        constant=bool(row["constant"]),
        zero=bool(row["zero"]),
        spread=float(row["spread"]),
        digest=str(row["digest"]),
    )


def habits_in(reply: Mapping[str, Any]) -> tuple[Habit, ...]:
    """What a reply says; raises as reading any malformed one does."""
    return tuple(
        Habit(str(kind), str(what), tuple(Frame(str(file), int(line)) for file, line in frames))
        for kind, what, frames in reply["events"]
    )


def prepared_in(reply: Mapping[str, Any], out: Mapping[str, Tensor]) -> Prepared | None:
    """What a reply says; raises as reading any malformed one does."""
    if reply["name"] is None:
        return None
    if any(one.dim() not in (3, 4) for one in out.values()):
        raise ValueError("a prepared image has neither three nor four axes")
    return Prepared(
        str(reply["name"]),
        bool(reply["function"]),
        dict(out),
        {str(picture): str(dtype) for picture, dtype in reply["dtypes"].items()},
        {str(picture): str(error) for picture, error in reply["errors"].items()},
    )
