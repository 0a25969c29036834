"""One question over all students, as who marks it sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from ...checks.record.result import Result
from ...checks.record.written_result import AnswerResult
from ..words.spreadsheets import text_cell
from ..words.text import NAME_LIMIT, TEXT_LIMIT, clean, one_line, points

FOLDER = "marking"  # beside the page of the class


@dataclass(frozen=True)
class StudentAnswer:
    """What one student wrote; ``cell`` is the submission in a table, ``mark`` empty where nobody gave any."""

    name: str
    cell: str
    report: str  # its page, seen from this one
    lines: tuple[str, ...]
    where: str
    mark: str


@dataclass(frozen=True)
class QuestionView:
    """Everything on the page; those who answered come first."""

    assignment: str
    id: str
    question: str
    rubric: str
    possible: str
    answers: tuple[StudentAnswer, ...]
    unanswered: tuple[StudentAnswer, ...]


class Questions:
    """Collects the questions that have points, and all answers to them, from results one after the other."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[str, AnswerResult]] = {}
        self._answers: dict[str, list[StudentAnswer]] = {}

    def seen(self, results: Iterable[Result]) -> Iterable[Result]:
        """The same results; what they answer is kept."""
        for result in results:
            for answer in result.written.answers if result.written else ():
                if answer.points:
                    self._asked.setdefault(answer.id, (result.assignment, answer))
                    self._answers.setdefault(answer.id, []).append(_answer(result, answer))
            yield result

    def views(self) -> list[QuestionView]:
        """In the order of the assignment, students by name."""
        return [_view(*asked, self._answers[id]) for id, asked in self._asked.items()]


def page_of(question: str) -> str:
    """Where the page of a question is, seen from that of the class."""
    return f"{FOLDER}/{question}.html"


def _view(assignment: str, asked: AnswerResult, answers: Sequence[StudentAnswer]) -> QuestionView:
    ordered = sorted(answers, key=lambda one: (one.name.casefold(), one.cell))
    return QuestionView(
        assignment=one_line(assignment, NAME_LIMIT),
        id=one_line(asked.id, NAME_LIMIT),
        question=one_line(asked.question),
        rubric=clean(asked.rubric),
        possible=points(asked.points),
        answers=tuple(one for one in ordered if one.lines),
        unanswered=tuple(one for one in ordered if not one.lines),
    )


def _answer(result: Result, answer: AnswerResult) -> StudentAnswer:
    mark = result.adjustment.marks.get(answer.id)
    return StudentAnswer(
        name=one_line(result.submission, NAME_LIMIT),
        cell=text_cell(result.submission),
        report=f"../{quote(result.submission, safe='')}/marking.html",
        lines=tuple(clean(answer.answer or "", TEXT_LIMIT).splitlines()),
        where=one_line(answer.where or "", NAME_LIMIT),
        mark="" if mark is None else points(mark),
    )
