"""What has to change before an assignment is handed out, told from what was graded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from ....submissions.reading.packing import HandIn
from ...architecture.catalogue import mistake, mistakes
from ...architecture.complaints import line_of, near
from ...assignment.assignment import Assignment
from ...assignment.kinds import group_of, groups
from ...points.by_part import points_of_parts, points_of_stages
from ...record.result import CheckResult, Outcome, Result, Status
from .fates import missed
from .validation import Wrong

_SAID = re.compile(rb"#\s*MISTAKE\s+([\w-]+)")


def unearned(right: Sequence[Result]) -> Iterator[str]:
    """Yield what keeps the solution from full points, with the seeds under which it does."""
    for one in right:
        if one.status is not Status.GRADED:
            yield f"the solution cannot be graded: {one.reason}"
            return
    lost: dict[str, list[tuple[int, CheckResult]]] = {}
    for one in right:
        for check in missed(one):
            if check.points:
                lost.setdefault(check.id, []).append((one.run.seed, check))
    for id, found in lost.items():
        seeds = ", ".join(str(seed) for seed, _ in found)
        _, first = found[0]
        yield f"the solution misses {id} ({first.points:g} points, seed {seeds}): {first.message}"


def unpaid(assignment: Assignment, text: str, right: Result) -> Iterator[str]:
    """Yield points that are given to checks that there are not, or that say nothing of the solution.

    ``text`` is that of the assignment's file.
    """
    if right.status is not Status.GRADED:
        return
    for group in groups():
        worth = assignment.points.of(group)
        members = [one for one in right.checks if group_of(one.id) == group]
        if worth and all(one.outcome is Outcome.SKIPPED for one in members):
            why = members[0].message if members else "there are no such checks"
            yield f"line {line_of(text, ('points', group))}: points.{group} pays {worth:g} for nothing: {why}"
    yield from _unpaid_of_model(assignment, text, right)
    for id in assignment.points.checks:
        ids = [one.id for one in right.checks]
        if id not in ids:
            alike = [one for one in ids if group_of(one) == group_of(id)]
            where = line_of(text, ("points", "checks", id))
            yield f"line {where}: points.checks: there is no check {id!r}; {near(id, alike or ids)}"


def _unpaid_of_model(assignment: Assignment, text: str, right: Result) -> Iterator[str]:
    """The same of parts and stages, which are paid for in tables of their own."""
    checks, family = right.checks, assignment.family
    parts, stages = assignment.points.parts, assignment.points.stages
    worth = {("parts", one): points_of_parts({one: parts[one]}, checks, family) for one in parts}
    worth |= {("stages", one): points_of_stages({one: stages[one]}, checks) for one in stages}
    for (table, name), points in worth.items():
        amount = {**parts, **stages}[name]
        if amount and not any(points.values()):
            where = line_of(text, ("points", table, name))
            yield f"line {where}: points.{table}.{name} pays {amount:g} for nothing: it is not asked for"


def wrong_one(assignment: Assignment, path: Path, handed: HandIn, result: Result) -> Wrong:
    """Judge a file that is known to be wrong: it has to lose points, and by what it says that it makes."""
    named = [id for one in result.mistakes for id in (one.id, *one.also)]
    named = list(dict.fromkeys([*named, *(one.id for one in result.variants)]))
    try:
        id = said(handed)
        problem = _problem(assignment, id, named, result)
    except ValueError as error:
        id, problem = None, f"# MISTAKE: {error}"
    return Wrong(
        file=str(path),
        mistake=id,
        earned=result.score.earned,
        possible=result.score.possible,
        named=named,
        problem=problem,
    )


def said(handed: HandIn) -> str | None:
    """Return the id of the mistake that a file says it makes, in a comment or by its name.

    Raises ValueError where the comment names none that is known.
    """
    for content in handed.files.values():
        if found := _SAID.search(content):
            return mistake(found[1].decode()).id
    name = handed.name if handed.is_folder else Path(handed.name).stem
    return name if name in mistakes() else None


def _problem(assignment: Assignment, id: str | None, named: Sequence[str], result: Result) -> str | None:
    if result.status is not Status.GRADED:
        return f"it cannot be graded, which shows nothing: {result.reason}"
    if result.score.earned >= result.score.possible:
        allowed, reason = assignment.allows(id) if id else (False, None)
        why = f", since {id} is allowed{f' ({reason})' if reason else ''}" if allowed else ""
        return f"it keeps all points{why}"
    if id and id not in named:
        seen = ", ".join(named) or ", ".join(one.id for one in missed(result) if one.points)
        return f"it loses points, but not by {id}: seen was {seen}"
    return None
