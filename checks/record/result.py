"""The result record: one JSON document a submission, from which all output is rendered. Imports no torch."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from .shown_texts import shown

SCHEMA = 1  # goes up by one where older programs could not read the record; what is older is always read

GRADER_FAILED = "the grader itself failed on this submission, which says nothing of the work; grade it again"


class Status(str, Enum):
    """How far grading came."""

    GRADED = "graded"
    NOT_LOADED = "not_loaded"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    REFUSED = "refused"


class StageStatus(str, Enum):
    """Whether a stage is right."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not_reached"
    NOT_APPLICABLE = "not_applicable"


class Evidence(str, Enum):
    """How a stage is known: its tensor was found, only its consequence was, or neither."""

    OBSERVED = "observed"
    IMPLIED = "implied"
    ABSENT = "absent"


class Outcome(str, Enum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    TIMED_OUT = "timed_out"
    NOT_REACHED = "not_reached"
    SKIPPED = "skipped"


class Visibility(str, Enum):
    """When students may see how a check ended, the earliest first: in Gradescope's words, for Gradescope."""

    VISIBLE = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"
    HIDDEN = "hidden"


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    _shown = model_validator(mode="before")(shown)


class CodeLine(_Record):
    """One line of an excerpt of the student's code."""

    number: int
    text: str
    marked: bool = False


class Location(_Record):
    """A place in the student's code; ``line`` counts from 1, in a notebook from the top of its cell."""

    file: str
    line: int
    excerpt: list[CodeLine] = []


class Score(_Record):
    """Points."""

    earned: float
    possible: float


class StageResult(_Record):
    """What is known of one stage. Shapes are at the assignment's full size, in the order of ``axes``."""

    key: str
    title: str
    axes: str  # letters separated by spaces, such as "B h T T"
    equation: str
    status: StageStatus
    evidence: Evidence
    expected_shape: list[int]
    shape: list[int] | None = None
    max_error: float | None = None
    tolerance: float | None = None
    mistakes: list[str] = []
    location: Location | None = None
    hint: str | None = None
    message: str | None = None  # what was measured, in a sentence or a few
    values: list[list[float | None]] | None = None  # a corner of the student's tensor; null where not finite
    expected_values: list[list[float | None]] | None = None  # the same corner of what the equation predicts
    values_of: str | None = None  # which corner, such as "image 0, head 0, tokens 0-3 by tokens 0-5"


class CheckResult(_Record):
    """One check of the suite."""

    id: str
    stage: str | None
    title: str
    outcome: Outcome
    points: float
    earned: float
    message: str = ""
    counterexample: dict[str, Any] | None = None  # sizes and seed, "command" repeats it
    visibility: Visibility = Visibility.VISIBLE

    @property
    def part(self) -> str:
        """What it is of: the label of a stage, ``component[mlp]``, ``exercise[fuse_heads]`` or ``model``."""
        kind, _, rest = self.id.rstrip("]").partition("[")
        if kind in ("component", "exercise"):
            return f"{kind}[{rest.partition('.')[0]}]"
        return self.stage or "model"

    @property
    def costs(self) -> bool:
        """Whether points are lost with it; some checks are worth none, and fail along with others."""
        return self.points > 0 and self.outcome not in (Outcome.PASSED, Outcome.SKIPPED)


class MistakeResult(_Record):
    """A mistake that was recognised."""

    id: str
    stage: str
    kind: str  # error | variant | layout
    title: str
    hint: str
    location: Location | None = None
    blocks: str | None = None  # "block 1", "all blocks"
    also: list[str] = []  # ids that the same numbers would explain equally well


class VariantResult(_Record):
    """A legitimate variant that was recognised, and whether the assignment accepts it."""

    id: str
    stage: str
    title: str
    allowed: bool
    reason: str | None = None


class Note(_Record):
    """Something inferred or left out while the submission was loaded, or that a person should look at."""

    kind: str  # skipped | inferred | unearned | pinned | printed | asks
    text: str
    location: Location | None = None


class SnapshotOutcome(str, Enum):
    """How a stage stands in the report that was handed in beside the code."""

    RIGHT = "right"
    WRONG = "wrong"
    UNCLEAR = "unclear"  # a person has to look
    NOT_FOUND = "not_found"


class SnapshotResult(_Record):
    """The shape that the report states for a stage; ``stated`` is as it was written."""

    outcome: SnapshotOutcome
    reason: str = ""  # why it is neither right nor wrong
    stated: list[str] = []
    expected_shape: list[int]  # of one image; any other number of images is right, too
    agrees_with_code: bool | None = None  # null where one of both states none
    where: str | None = None  # such as "report.pdf, page 3"


class AnswerResult(_Record):
    """A question of the assignment, and what stands below it in the report: for a person to mark."""

    id: str
    question: str
    rubric: str
    points: float
    answer: str | None = None  # null where the question was not found
    where: str | None = None


class DocumentResult(_Record):
    """A report that was handed in, and why it could not be read."""

    name: str
    problem: str | None = None


class WrittenResult(_Record):
    """The written part: nothing in it is a mark."""

    documents: list[DocumentResult]
    snapshots: dict[str, SnapshotResult] = {}
    answers: list[AnswerResult] = []


class Run(_Record):
    """How the grading was done; enough to repeat it exactly."""

    seed: int
    seconds: float
    isolation: list[str] = []
    versions: dict[str, str] = {}
    examples: int = 0
    sizes: dict[str, int] = {}  # of the first example
    command: str | None = None


class _Document(_Record):
    """A record that is written to a file of its own, and the arrays that its figures are drawn from."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: int = Field(SCHEMA, alias="schema", serialization_alias="schema")
    arrays: bytes | None = Field(default=None, exclude=True, repr=False)  # a safetensors file beside it

    @model_validator(mode="before")
    @classmethod
    def _no_newer_schema(cls, document: object) -> object:
        """Of a record of the future, this is all that can be said."""
        schema = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
        if isinstance(schema, int) and schema > SCHEMA:
            raise ValueError(
                f"the record is of schema {schema}, which a later vitcheck wrote, and this one reads up to"
                f" {SCHEMA}: install that version to read it"
            )
        return document

    def to_json(self) -> str:
        """The document as it is written, without ``arrays``: same result, same bytes."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, arrays: bytes | None = None) -> Self:
        """Read the document, whichever version of vitcheck wrote it, up to this one.

        Raises pydantic.ValidationError, which is a ValueError, where ``text`` is no such record, or one of a
        later schema.
        """
        return cls.model_validate_json(text).model_copy(update={"arrays": arrays})


class Result(_Document):
    """One submission's result."""

    submission: str
    assignment: str
    status: Status
    reason: str | None = None
    location: Location | None = None  # where loading stopped, if status is not graded
    score: Score
    architecture: str | None = None  # "report", "pre-norm", …: what was seen
    stages: dict[str, StageResult] = {}
    checks: list[CheckResult] = []
    mistakes: list[MistakeResult] = []
    variants: list[VariantResult] = []
    notes: list[Note] = []
    written: WrittenResult | None = None  # null where the assignment asks for none, or none was handed in
    run: Run


class PictureResult(_Record):
    """The file that an image was read from, and its size in pixels."""

    name: str
    width: int
    height: int


class QuestionResult(_Record):
    """A question of the assignment, what a good answer says, and the labels of the stages that show it."""

    text: str
    rubric: str = ""
    stages: list[str] = []


class Snapshot(_Document):
    """Every stage of one pass on one picture: a student's, or the reference's as the answer key."""

    submission: str | None  # None for the reference
    assignment: str
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
