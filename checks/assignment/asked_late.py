"""The table of an assignment file about what is handed in late. Imports no torch."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, model_validator
from typing_extensions import Self

from .asked_table import AskedTable

Percent = Annotated[float, Field(ge=0, le=100)]


class LateStep(AskedTable):
    """What is taken of work that is later than ``hours``."""

    hours: Annotated[float, Field(ge=0)]
    percent: Percent


class LatePolicy(AskedTable):
    """When work is due, and what is taken of late work: for each day begun, or by steps.

    ``budget_days`` are free for each student, over all assignments of a gradebook.
    """

    due: AwareDatetime
    grace_minutes: Annotated[int, Field(ge=0)] = 0
    per_day: Percent | None = None
    steps: tuple[LateStep, ...] = ()
    at_most: Percent = 100
    of: Literal["possible", "earned"] = "possible"
    budget_days: Annotated[int, Field(ge=0)] = 0

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.per_day is not None and self.steps:
            raise ValueError("[late] has per_day and steps: give one of both")
        return self
