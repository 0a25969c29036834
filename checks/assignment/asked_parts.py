"""The tables of an assignment file that ask for single parts: components and exercises. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ...reference.components import COMPONENTS
from ...reference.exercises import EXERCISES
from ..architecture.complaints import near
from .asked_table import AskedTable


@dataclass(frozen=True)
class Aspect:
    """One thing that is checked of every component, for a share of its points."""

    key: str
    title: str
    failing: str  # its title where it fails
    share: float


ASPECTS = {
    one.key: one
    for one in (
        Aspect("values", "computes what it should", "is wrong or missing", 0.7),
        Aspect("shape", "returns the expected shape at every size", "has a wrong shape or is missing", 0.2),
        Aspect(
            "parameters",
            "has the parameters that it needs, and a gradient reaches them",
            "lacks parameters or gradients, or is missing",
            0.1,
        ),
    )
}


class AskedPart(AskedTable):
    """One component or exercise that is asked for; ``name`` pins the class or function."""

    points: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    name: str | None = None


class ExercisePart(AskedPart):
    """``fusion`` says how heads are to be fused, where the exercise fuses them; both are right otherwise."""

    fusion: Literal["mean", "max"] | None = None


def _worth(value: object) -> object:
    """In the file the points may stand alone."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return {"points": value} if is_number else value


def _one_of(known: Mapping[str, object]) -> AfterValidator:
    def check(name: str) -> str:
        if name in known:
            return name
        raise ValueError(f"{name!r} cannot be asked for; {near(name, known)}")

    return AfterValidator(check)


Components = dict[Annotated[str, _one_of(COMPONENTS)], Annotated[AskedPart, BeforeValidator(_worth)]]
Exercises = dict[Annotated[str, _one_of(EXERCISES)], Annotated[ExercisePart, BeforeValidator(_worth)]]
