"""The result record: one JSON document a submission, from which all output is rendered. Imports no torch."""

from __future__ import annotations

from enum import Enum
from typing import Any

from .adjustment import UNADJUSTED, Adjustment
from .document import Document, Frozen
from .hint_rungs import Hints
from .lateness import Lateness
from .ordered import Ordered
from .written_result import WrittenResult

GRADER_FAILED = (
    "the grader itself failed on this submission, which says nothing about the work; grade it again"
)

MACHINE_BUSY = (
    "this machine had too much else to do to finish it, which says nothing about the work; grade it again"
    " with --retry"
)


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
    NOT_WRITTEN = "not_written"  # yet


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
    MISSING = "missing"  # it is not there, as it should be beside the code: nothing that is there is wrong


class Visibility(Ordered):
    """When students may see how a check ended, the earliest first: in Gradescope's words, for Gradescope."""

    VISIBLE = "visible"
    AFTER_DUE_DATE = "after_due_date"
    AFTER_PUBLISHED = "after_published"
    HIDDEN = "hidden"


class CodeLine(Frozen):
    """One line of an excerpt of the student's code."""

    number: int
    text: str
    marked: bool = False


class Location(Frozen):
    """A place in the student's code; ``line`` counts from 1, in a notebook from the top of its cell.

    Where it is a part of the line, that begins at ``column``, from 1, and has this ``width``.
    """

    file: str
    line: int
    column: int | None = None
    width: int | None = None
    excerpt: list[CodeLine] = []


class Score(Frozen):
    """Points."""

    earned: float
    possible: float


class StageResult(Frozen):
    """What is known of one stage. Shapes are at the assignment's full size, in the order of ``axes``."""

    key: str
    title: str
    axes: str  # letters separated by spaces, such as "B h T T"
    equation: str
    status: StageStatus
    evidence: Evidence
    crashed: bool = False  # the forward pass ended here in an exception
    expected_shape: list[int]
    shape: list[int] | None = None
    max_error: float | None = None
    tolerance: float | None = None
    mistakes: list[str] = []
    location: Location | None = None
    hint: str | None = None
    message: str | None = None  # what was measured, in a sentence or a few
    values: list[list[float | None]] | None = None  # of the student's tensor; null where not finite
    expected_values: list[list[float | None]] | None = None  # the same slice of what the equation predicts
    values_of: str | None = None  # which slice, such as "image 0, head 0, tokens 0-3 by tokens 0-5"


class CheckResult(Frozen):
    """One check, as it ended."""

    id: str
    stage: str | None
    judges: bool = True  # does it make its stage wrong where it fails?
    title: str
    failing: str = ""  # where it failed, its heading, if it has one: the title says what holds
    outcome: Outcome
    ended: Outcome | None = None  # how it did end, where more was skipped of its kind than others stand for
    asked: bool = True  # does the assignment ask it of such a hand-in? Else it is skipped, and free
    points: float
    earned: float
    message: str = ""
    mistakes: list[str] = []  # ids of what it gives away, the most specific first
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


class MistakeResult(Frozen):
    """A mistake that was recognised."""

    id: str
    stage: str
    kind: str  # error | variant | layout
    title: str
    hint: str
    experiment: str = ""  # something to do that shows it; empty in results of earlier versions
    explanation: str = ""  # what it does, and how to see it
    location: Location | None = None
    blocks: str | None = None  # "block 1", "all blocks"
    also: list[str] = []  # ids that the same numbers would explain equally well


class Proof(Frozen):
    """What becomes of the rest once what is blamed is right; all by the labels of stages.

    Right numbers stand in place of those that are ``cured`` while the student's own code computes the rest,
    or one change of that code makes them right.
    """

    proven: bool  # is everything right then?
    cured: list[str]  # the fewest that have to be, in order
    follows: list[str] = []  # failed, and right then
    still: list[str] = []  # failed, and not made right by it
    points: float | None = None  # at least, once the first is fixed


class VariantResult(Frozen):
    """A legitimate variant that was recognised, and whether the assignment accepts it."""

    id: str
    stage: str
    title: str
    allowed: bool
    reason: str | None = None


class Note(Frozen):
    """Something inferred or left out while the submission was loaded, or that a person should look at."""

    kind: str  # skipped | inferred | part | unearned | taken | pinned | printed | asks
    text: str
    location: Location | None = None


class Run(Frozen):
    """How the grading was done; enough to repeat it exactly."""

    seed: int
    seconds: float
    isolation: list[str] = []
    versions: dict[str, str] = {}
    examples: int = 0
    sizes: dict[str, int] = {}  # of the first example
    command: str | None = None  # repeats it where it was asked for
    command_of_author: str | None = None  # the same for who has the files themselves


class Asked(Frozen):
    """The assignment, as people know it."""

    known_as: str  # what ``--assignment`` takes for it
    title: str
    architectures: list[str] = []  # the kinds of blocks that a whole model may have
    hints: Hints = Hints.EXPLAIN  # how far they go for students


class Result(Document):
    """One submission's result."""

    submission: str
    assignment: str
    asked: Asked | None = None
    told: Visibility | None = (
        None  # of a record for students, how much of it they may see; null of a whole one
    )
    later: bool = False  # does a record for students lack checks that are shown later, or never?
    status: Status
    reason: str | None = None
    location: Location | None = None  # where loading stopped, if status is not graded
    score: Score
    architecture: str | None = None  # "report", "pre-norm", …: what was seen
    stages: dict[str, StageResult] = {}
    unwritten: Location | None = None  # the line of the first stage that is not written yet, if known
    checks: list[CheckResult] = []
    mistakes: list[MistakeResult] = []
    proof: Proof | None = None  # null where nothing is wrong, or no right numbers can be put in
    variants: list[VariantResult] = []
    notes: list[Note] = []
    adjustment: Adjustment = UNADJUSTED  # what was decided about it; grade.py makes the grade of both
    lateness: Lateness | None = None  # null where it is not known, or the assignment has no policy
    outdated: bool = False  # was that decided about another version of the file?
    written: WrittenResult | None = None  # null where the assignment asks for none, or none was handed in
    run: Run

    @property
    def unjudged(self) -> bool:
        """Did the grader fail on it, or not come to an end? Then its points mean nothing."""
        return self.reason in (GRADER_FAILED, MACHINE_BUSY)
