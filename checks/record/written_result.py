"""The written part of a result: what the report beside the code says. Imports no torch."""

from __future__ import annotations

from enum import Enum

from .document import Frozen


class SnapshotOutcome(str, Enum):
    """How a stage stands in the report that was handed in beside the code."""

    RIGHT = "right"
    WRONG = "wrong"
    UNCLEAR = "unclear"  # a person has to look
    NOT_FOUND = "not_found"


class SnapshotResult(Frozen):
    """The shape that the report states for a stage; ``stated`` is as it was written."""

    outcome: SnapshotOutcome
    reason: str = ""  # why it is neither right nor wrong
    stated: list[str] = []
    expected_shape: list[int]  # of one image; any other number of images is right, too
    agrees_with_code: bool | None = None  # null where one of both states none
    where: str | None = None  # such as "report.pdf, page 3"


class AnswerResult(Frozen):
    """A question of the assignment, and what stands below it in the report: for a person to mark."""

    id: str
    question: str
    rubric: str
    points: float
    answer: str | None = None  # null where the question was not found
    where: str | None = None


class DocumentResult(Frozen):
    """A report that was handed in, and why it could not be read."""

    name: str
    problem: str | None = None


class WrittenResult(Frozen):
    """The written part: nothing in it is a mark."""

    documents: list[DocumentResult]
    snapshots: dict[str, SnapshotResult] = {}
    answers: list[AnswerResult] = []
