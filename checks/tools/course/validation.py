"""What came of trying an assignment, as data. Imports no torch."""

from __future__ import annotations

from enum import Enum

from pydantic import BaseModel, ConfigDict


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Solution(_Record):
    """The solution under one seed."""

    seed: int
    earned: float
    possible: float


class Wrong(_Record):
    """A file that is known to be wrong, and what is not as it should be with that."""

    file: str
    mistake: str | None  # the id of what it says of itself
    earned: float
    possible: float
    named: list[str]  # ids of what was recognised in it
    problem: str | None = None


class Typical(_Record):
    """What a typical submission would get."""

    title: str
    earned: float
    possible: float


class Fate(str, Enum):
    """What a mistake costs under the assignment."""

    CAUGHT = "caught"
    ALLOWED = "allowed"
    WORTHLESS = "worth nothing"
    UNSEEN = "not seen"
    UNTRIED = "not tried"


class MistakeFate(_Record):
    """A known mistake, and the points that it costs where it was tried; ``why`` says what is unusual."""

    id: str
    stage: str
    fate: Fate
    points: float = 0.0
    why: str = ""


class Validation(_Record):
    """All of it; ``problems`` are what has to change before the assignment is handed out."""

    assignment: str
    problems: list[str] = []
    solution: list[Solution] = []
    wrong: list[Wrong] = []
    typical: list[Typical] = []
    mistakes: list[MistakeFate] = []
