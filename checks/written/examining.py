"""The written part of one submission: what its reports say, laid beside what is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...reference.sizes import Sizes
from ...reference.stages import stage
from ...submissions.written.passages import Passage
from ...submissions.written.reading import WrittenReport
from ..assignment.asked_writing import WrittenPart
from ..assignment.assignment import Assignment
from ..examining.verdicts import CheckOutcome
from ..locating.search.shapes import shaped
from ..record.result import StageResult
from ..record.written_result import DocumentResult, SnapshotOutcome, SnapshotResult, WrittenResult
from .answers import answers, questions_in
from .sections import Section, sections
from .stated_stages import snapshots

_OUTCOMES = {SnapshotOutcome.RIGHT: "passed", SnapshotOutcome.UNCLEAR: "skipped"}  # all others: failed


class Written:
    """The reports of a submission, read for what the assignment asks for."""

    def __init__(
        self, documents: Sequence[WrittenReport], assignment: Assignment, asked: WrittenPart
    ) -> None:
        self._documents, self._assignment, self._asked = documents, assignment, asked
        self._sections = self._read()

    def _read(self) -> list[Section]:
        """A question ends what is said of a stage: its answer speaks of many shapes."""
        starts = {
            id(document.passages[place.passage])
            for document in self._documents
            for place in questions_in(document.passages, self._asked.questions).values()
        }

        def is_question(passage: Passage) -> bool:
            return id(passage) in starts

        return sections(self._documents, is_question)

    def _snapshots(self, stages: Mapping[str, StageResult]) -> dict[str, SnapshotResult]:
        full = self._assignment.full
        if not self._assignment.architectures or not isinstance(full, Sizes):  # the names are those of a ViT
            return {}
        family = self._assignment.family
        numberings = [family.label_sets[one] for one in self._assignment.labels]
        unread = [one.name for one in self._documents if one.problem]
        return snapshots(self._sections, full, numberings, stages, unread)

    def outcomes(self) -> list[CheckOutcome]:
        """Return a check for each stage, where the assignment pays for them; what is unclear is skipped."""
        if not self._assignment.points.written:
            return []
        return [_outcome(label, one) for label, one in self._snapshots({}).items()]

    def record(self, stages: Mapping[str, StageResult]) -> WrittenResult:
        """Return all of it, with the shapes of the code's own ``stages`` beside those that are stated."""
        return WrittenResult(
            documents=[DocumentResult(name=one.name, problem=one.problem) for one in self._documents],
            snapshots=self._snapshots(stages),
            answers=answers(self._documents, self._asked.questions),
        )


def _outcome(label: str, one: SnapshotResult) -> CheckOutcome:
    stated = f", got {' and '.join(one.stated)}" if one.stated else ""
    expected = f"expected {shaped(one.expected_shape)}"
    why = f"{one.reason}; " if one.reason else ""
    return CheckOutcome(
        f"written[{label}]",
        stage(label).key,
        f"The report shows {label} with its shape.",
        _OUTCOMES.get(one.outcome, "failed"),
        "" if one.outcome is SnapshotOutcome.RIGHT else f"{why}{expected}{stated}",
        failing="shape missing or wrong in the report",
    )
