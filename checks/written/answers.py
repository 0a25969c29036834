"""The questions in the report, and what stands below each: found, and never judged."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from ...submissions.written.passages import Kind, Passage
from ...submissions.written.reading import Document
from ..assignment.asked_writing import Question
from ..record.written_result import AnswerResult
from .names import labels_first
from .sections import closes_all

_ALIKE = 66  # per cent of words in common: questions in other words have more, other sentences less
_RIGHT_NUMBER = 18  # per cent that the number of the question, standing before it, is worth
_ASKED = 300  # characters of a question
_CHARACTERS = 6000  # of an answer
_WORDS = 4  # fewer are no question
_NUMBER = re.compile(r"\W*(?P<named>Q(?:uestion)?\s*)?\W{0,3}(?P<number>\d{1,2})\b[.):\s-]*", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where a question stands, and how surely it is that one."""

    likeness: float
    question: str
    passage: int
    rest: str  # of its passage, where the answer may begin


def questions_in(passages: Sequence[Passage], questions: Mapping[str, Question]) -> dict[str, Place]:
    """Find each question once, the most alike first, by its number or by its words."""
    places = [
        place
        for index, passage in enumerate(passages)
        if passage.kind in (Kind.HEADING, Kind.TEXT)
        for place in _places(index, passage.text, questions)
    ]
    found: dict[str, Place] = {}
    taken: set[int] = set()
    for one in sorted(places, key=lambda one: -one.likeness):
        if one.question not in found and one.passage not in taken:
            found[one.question] = one
            taken.add(one.passage)
    return found


def _places(index: int, text: str, questions: Mapping[str, Question]) -> list[Place]:
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
            places.append(Place(likeness, id, index, rest if mark else ""))
    return places


def answers(documents: Sequence[Document], questions: Mapping[str, Question]) -> list[AnswerResult]:
    """Return every question of the assignment, with what stands below it in the first report that has it."""
    found: dict[str, tuple[Document, str]] = {}
    for document in documents:
        places = questions_in(document.passages, questions)
        starts = {one.passage for one in places.values()}
        for id, place in places.items():
            found.setdefault(id, (document, _answer(document.passages, place, starts)))
    return [_result(id, question, found.get(id)) for id, question in questions.items()]


def _answer(passages: Sequence[Passage], place: Place, starts: set[int]) -> str:
    """All that stands between the question and the next thing."""
    level = passages[place.passage].level
    parts = [place.rest.strip(" *_")]  # what is bold ends behind the question mark
    for index in range(place.passage + 1, len(passages)):
        one = passages[index]
        below = one.kind is Kind.HEADING and one.level > level > 0
        if index in starts or closes_all(one) or (one.kind is Kind.HEADING and not below):
            break
        if labels_first(one.text) and one.kind is Kind.TEXT and one.page:
            break  # in a PDF headings are lines like others
        parts.append(one.text)
    return "\n".join(filter(None, parts))[:_CHARACTERS]


def _result(id: str, question: Question, found: tuple[Document, str] | None) -> AnswerResult:
    document, answer = found if found else (None, None)
    return AnswerResult(
        id=id,
        question=question.text,
        rubric=question.rubric,
        points=question.points,
        answer=answer,
        where=document.name if document else None,
    )
