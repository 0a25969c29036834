"""What came of trying an assignment, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from vitcheck.checks.tools.course.validation import Fate, Validation
from vitcheck.reports.words.text import clean, one_line, points
from vitcheck.reports.words.wording import count

_HEADINGS = {  # what the assignment does not catch, and why
    Fate.ALLOWED: "allowed by the assignment",
    Fate.WORTHLESS: "only checks that are worth nothing fail",
    Fate.UNSEEN: "no check fails",
}


def lines(found: Validation) -> Iterator[str]:
    """Problems first, then what was tried, then the mistakes that would cost nothing."""
    problems = count(len(found.problems), "problem") if found.problems else "no problem was found"
    yield f"{one_line(found.assignment)}: {problems}"
    yield from (f"  {clean(one)}" for one in found.problems)
    yield ""
    for right in found.solution:
        yield f"{points(right.earned):>6} of {points(right.possible)}  the solution, seed {right.seed}"
    for wrong in found.wrong:
        names = f"  {', '.join(wrong.named)}" if wrong.named else ""
        yield f"{points(wrong.earned):>6} of {points(wrong.possible)}  {one_line(wrong.file)}{names}"
    if found.typical:
        yield ""
        yield "What typical submissions get:"
    for typical in found.typical:
        yield f"{points(typical.earned):>6} of {points(typical.possible)}  {typical.title}"
    yield from _mistakes(found)


def _mistakes(found: Validation) -> Iterator[str]:
    if not found.mistakes:
        return
    by_fate = {fate: [one for one in found.mistakes if one.fate is fate] for fate in Fate}
    yield ""
    yield f"Known mistakes: {len(by_fate[Fate.CAUGHT])} planted and caught. Not caught:"
    for fate, heading in _HEADINGS.items():
        if ids := [one.id for one in by_fate[fate]]:
            yield f"  {heading}: {', '.join(ids)}"
    for caught in by_fate[Fate.CAUGHT]:
        if caught.why:
            yield f"  {caught.id}: {caught.why}"
    untried = count(len(by_fate[Fate.UNTRIED]), "further_mistake")
    yield f"Not tried: {untried}, which cannot be planted in the reference."
