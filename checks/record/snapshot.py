"""The record of one pass on one picture, and what every record with stages tells. Imports no torch."""

from __future__ import annotations

from typing_extensions import Self

from .document import Document, Frozen
from .result import Asked, Location, MistakeResult, Note, Result, Run, StageResult, Status


class PictureResult(Frozen):
    """The file that an image was read from, and its size in pixels."""

    name: str
    width: int
    height: int


class QuestionResult(Frozen):
    """A question of the assignment, what a good answer says, and the labels of the stages that show it."""

    text: str
    rubric: str = ""
    stages: list[str] = []


class Snapshot(Document):
    """Every stage of one pass on one picture: a student's, or the reference's as the answer key."""

    submission: str | None  # None for the reference
    assignment: str
    asked: Asked | None = None
    picture: PictureResult
    status: Status
    reason: str | None = None
    location: Location | None = None  # where loading stopped, if status is not graded
    architecture: str | None = None
    stages: dict[str, StageResult] = {}
    mistakes: list[MistakeResult] = []
    notes: list[Note] = []
    questions: list[QuestionResult] = []  # of the answer key alone
    run: Run  # its sizes are those of the pass

    @classmethod
    def of(cls, result: Result, picture: PictureResult, command: str | None = None) -> Self:
        """What a result says of the pass, where it was graded with this picture; ``command`` repeats it."""
        shared = {name: one for name, one in result if name in Snapshot.model_fields}
        run = result.run.model_copy(update={"command": command})
        return cls(**shared | {"picture": picture, "run": run})


Record = Result | Snapshot


def named_mistake(record: Record, label: str, stage: StageResult) -> MistakeResult | None:
    """The most specific mistake known of the stage ``label``; None where none explains it."""
    listed = [one for name in stage.mistakes for one in record.mistakes if one.id == name]
    return next(iter([*listed, *(one for one in record.mistakes if one.stage == label)]), None)
