"""Why a check did not pass, as the text of a failed test."""

from __future__ import annotations

from collections.abc import Iterator

from vitcheck.checks.record.result import CheckResult, MistakeResult, Outcome, Result, StageResult
from vitcheck.reports.words.location_view import place
from vitcheck.reports.words.quoting import begun, code_lines, quoted
from vitcheck.reports.words.standing import check_heading, standing
from vitcheck.reports.words.text import clean, one_line, sentence


def failure_text(result: Result, id: str) -> str:
    """What is wrong, the line of code, and the question that helps.

    Holds no control character, and no line begins with words of the student.
    """
    found = next((one for one in result.checks if one.id == id), None)
    lines = _not_graded(result) if found is None else _missed(result, found)
    return "\n".join(filter(None, lines))


def _not_graded(result: Result) -> Iterator[str]:
    stands = standing(result)
    yield from (f"{stands.heading}: {stands.sentence}", *code_lines(stands.place), stands.advice)


def _missed(result: Result, check: CheckResult) -> Iterator[str]:
    ended = "" if check.outcome is Outcome.FAILED else f"{check.outcome.value.replace('_', ' ')}: "
    text = f"{ended}{clean(check.message) or sentence(check_heading(result, check))}"
    yield begun(text) if text[0].isalnum() else quoted(text)
    about: list[StageResult | MistakeResult] = [
        *(stage for label, stage in result.stages.items() if label == check.stage),
        *(one for one in result.mistakes if one.stage in (check.id, check.stage)),
    ]
    yield from code_lines(place(next((one.location for one in about if one.location), None)))
    yield one_line(next((one.hint for one in about if one.hint), ""))
