"""The questions in the report, and what stands below each: found, and never judged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from ...submissions.written.passages import Passage, PassageKind
from ...submissions.written.reading import WrittenReport
from ..assignment.asked_writing import WrittenQuestion
from ..record.written_result import AnswerResult
from .sections import closes_all
from .stage_names import labels_first

_ALIKE = 66  # per cent of words in common: questions in other words have more, other sentences less
_RIGHT_NUMBER = 18  # per cent that the number of the question, standing before it, is worth
_ASKED = 300  # characters of a question
_CHARACTERS = 6000  # of an answer
_WORDS = 4  # fewer are no question
_NUMBER = re.compile(r"\W*(?P<named>Q(?:uestion)?\s*)?\W{0,3}(?P<number>\d{1,2})\b[.):\s-]*", re.IGNORECASE)


@dataclass(frozen=True)
class QuestionPlace:
    """Where a question stands, and how surely it is that one."""

    likeness: float
    question: str
    passage: int
    rest: str  # of its passage, where the answer may begin


def questions_in(
    passages: Sequence[Passage], questions: Mapping[str, WrittenQuestion]
) -> dict[str, QuestionPlace]:
    """Find each question once, the most alike first, by its number or by its words."""
    places = [
        place
        for index, passage in enumerate(passages)
        if passage.kind in (PassageKind.HEADING, PassageKind.TEXT)
        for place in _places(index, passage.text, questions)
    ]
    found: dict[str, QuestionPlace] = {}
    taken: set[int] = set()
    for place in sorted(places, key=lambda one: -one.likeness):
        if place.question not in found and place.passage not in taken:
            found[place.question] = place
            taken.add(place.passage)
    return found


def _places(index: int, text: str, questions: Mapping[str, WrittenQuestion]) -> list[QuestionPlace]:
    """The questions that a passage may begin with."""
    numbered = _NUMBER.match(text, 0, _ASKED)
    named = numbered is not None and numbered["named"] is not None
    asked, mark, rest = text[numbered.end() if numbered else 0 :].partition("?")
    if len(asked.split()) < _WORDS and not named:
        return []
    places = []
    for number, (id, question) in enumerate(questions.items(), 1):
        likeness = fuzz.token_set_ratio(asked[:_ASKED].lower(), question.text.lower())
        if numbered and int(numbered["number"]) == number:
            likeness += _ALIKE if named else _RIGHT_NUMBER
        if likeness >= _ALIKE:
            places.append(QuestionPlace(likeness, id, index, rest if mark else ""))
    return places


def answers(
    documents: Sequence[WrittenReport], questions: Mapping[str, WrittenQuestion]
) -> list[AnswerResult]:
    """Return every question of the assignment, with what stands below it in the first report that has it."""
    found: dict[str, tuple[WrittenReport, str]] = {}
    for document in documents:
        places = questions_in(document.passages, questions)
        starts = {one.passage for one in places.values()}
        for id, place in places.items():
            found.setdefault(id, (document, _answer(document.passages, place, starts)))
    return [_result(id, question, found.get(id)) for id, question in questions.items()]


def _answer(passages: Sequence[Passage], place: QuestionPlace, starts: set[int]) -> str:
    """All that stands between the question and the next thing."""
    level = passages[place.passage].level
    parts = [place.rest.strip(" *_")]  # what is bold ends behind the question mark
    for index in range(place.passage + 1, len(passages)):
        one = passages[index]
        below = one.kind is PassageKind.HEADING and one.level > level > 0
        if index in starts or closes_all(one) or (one.kind is PassageKind.HEADING and not below):
            break
        if labels_first(one.text) and one.kind is PassageKind.TEXT and one.page:
            break  # in a PDF headings are lines like others
        parts.append(one.text)
    return "\n".join(filter(None, parts))[:_CHARACTERS]


def _result(id: str, question: WrittenQuestion, found: tuple[WrittenReport, str] | None) -> AnswerResult:
    document, answer = found if found else (None, None)
    return AnswerResult(
        id=id,
        question=question.text,
        rubric=question.rubric,
        points=question.points,
        answer=answer,
        where=document.name if document else None,
    )
