"""The written part of a submission, as its pages show it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote

from ...checks.record.result import Result
from ...checks.record.written_result import AnswerResult, SnapshotOutcome, SnapshotResult, WrittenResult
from ..words.text import NAME_LIMIT, TEXT_LIMIT, clean, one_line, points
from ..words.wording import say
from .stage_views import State

_LOOKS = {
    SnapshotOutcome.RIGHT: State.PASSED,
    SnapshotOutcome.WRONG: State.FAILED,
    SnapshotOutcome.UNCLEAR: State.NOT_REACHED,
    SnapshotOutcome.NOT_FOUND: State.NOT_APPLICABLE,
}


@dataclass(frozen=True)
class StatedStageView:
    """A stage in the report: what is stated for it, and what is right."""

    label: str
    style: str
    sign: str
    word: str
    stated: str
    expected: str
    remark: str
    where: str


@dataclass(frozen=True)
class AnswerView:
    """A question; ``answer`` is empty where it was not found, ``mark`` where nobody has marked it."""

    id: str
    question: str
    rubric: str
    answer: str
    where: str
    mark: str
    possible: str


@dataclass(frozen=True)
class WrittenView:
    """All that was found in the reports of one submission."""

    documents: tuple[tuple[str, str], ...]  # name, and why it could not be read
    tally: str
    snapshots: tuple[StatedStageView, ...]
    missing: str
    answers: tuple[AnswerView, ...]


def written_view(result: Result) -> WrittenView | None:
    """None where there is nothing to tell."""
    written = result.written
    if written is None or not _says_something(written):
        return None
    return _view(written, result.adjustment.marks)


def _view(written: WrittenResult, marks: Mapping[str, float]) -> WrittenView:
    found = {label: one for label, one in written.snapshots.items() if one.outcome.value != "not_found"}
    counts = Counter(one.outcome for one in found.values())
    missing = [label for label in written.snapshots if label not in found]
    return WrittenView(
        documents=tuple(
            (one_line(one.name, NAME_LIMIT), one_line(one.problem or "")) for one in written.documents
        ),
        tally=", ".join(say(f"written_tally.{one.value}", count=count) for one, count in counts.items()),
        snapshots=tuple(_snapshot(label, one) for label, one in found.items()),
        missing=one_line(", ".join(missing)),
        answers=tuple(_answer(one, marks) for one in written.answers),
    )


@dataclass(frozen=True)
class MarkingView:
    """Everything on the page for marking."""

    submission: str
    assignment: str
    example: str  # of the command
    written: WrittenView


def marking_view(result: Result) -> MarkingView:
    """Raises ValueError for a result without a written part."""
    if result.written is None:
        raise ValueError(f"{result.submission} has no written part to be marked")
    paid = [f"{one.id}={points(one.points)}" for one in result.written.answers if one.points]
    return MarkingView(
        submission=one_line(result.submission, NAME_LIMIT),
        assignment=one_line(result.assignment, NAME_LIMIT),
        example=one_line(f"vitcheck gradebook mark {quote(result.submission)} {' '.join(paid)}")
        if paid
        else "",
        written=_view(result.written, result.adjustment.marks),
    )


def _says_something(written: WrittenResult) -> bool:
    """A notebook or a README with code alone is no report."""
    return (
        any(one.outcome is not SnapshotOutcome.NOT_FOUND for one in written.snapshots.values())
        or any(one.answer is not None or one.points for one in written.answers)
        or any(one.problem for one in written.documents)
    )


def _snapshot(label: str, one: SnapshotResult) -> StatedStageView:
    look = _LOOKS[one.outcome]
    return StatedStageView(
        label=one_line(label),
        style=look.style,
        sign=look.sign,
        word=say(f"written_outcome.{one.outcome.value}"),
        stated=one_line(", ".join(one.stated)),
        expected=f"({', '.join(map(str, one.expected_shape))})",
        remark=" ".join(filter(None, [one_line(one.reason), _beside_code(one)])),
        where=one_line(one.where or "", NAME_LIMIT),
    )


def _beside_code(one: SnapshotResult) -> str:
    """Said where it is news: that what is right is right in the code, too, is none."""
    if one.agrees_with_code is None or (one.agrees_with_code and one.outcome is SnapshotOutcome.RIGHT):
        return ""
    return say("written.as_code" if one.agrees_with_code else "written.unlike_code")


def _answer(one: AnswerResult, marks: Mapping[str, float]) -> AnswerView:
    return AnswerView(
        id=one_line(one.id, NAME_LIMIT),
        question=one_line(one.question),
        rubric=clean(one.rubric),
        answer=clean(one.answer or "", TEXT_LIMIT),
        where=one_line(one.where or "", NAME_LIMIT),
        mark=points(marks[one.id]) if one.id in marks else "",
        possible=points(one.points) if one.points else "",
    )
