"""The assignment as students get it: what is asked for, what it is worth, and nothing of the teacher's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tomlkit

from ...assignment.asked_points import OTHERS
from ...assignment.assignment import Assignment, parse_assignment
from ...assignment.kinds import PARTS, group_of, groups, judges_stage, kind_of, kinds
from ...grading.running import planned_checks
from ...record.result import Visibility

_HEAD = "# What is asked for, as `vitcheck check` reads it. `vitcheck handout` writes this file.\n\n"
_OURS = ("rubric", "stages")  # of a question: what a good answer says, and where the code shows it


def handout_text(text: str, file: str = "assignment.toml") -> str:
    """Return the file for students of an assignment's ``text``.

    It lacks comments, rubrics, and which checks are shown later: only what is shown is named, and what the
    others are worth is one number. Raises AssignmentError where the text is no valid assignment.
    """
    asked = parse_assignment(text, file)
    document: dict[str, Any] = tomlkit.parse(text).unwrap()
    for question in document.get("written", {}).get("questions", {}).values():
        for key in _OURS:
            question.pop(key, None)
    document.pop("visibility", None)
    document = {"for_students": True, **document}
    if any(one is not Visibility.VISIBLE for one in asked.visibility.values()):
        document["visibility"] = {OTHERS: "hidden", **dict.fromkeys(_shown(asked), "visible")}
        _hide_points(document.get("points", {}), asked)
    return _HEAD + tomlkit.dumps(document)


def _shown(asked: Assignment) -> Iterator[str]:
    """What is shown at once: groups where it is all of one, else single checks."""
    ids = _ids(asked)
    for group in (*groups(), *PARTS.values()):
        mine = [id for id in ids if (group_of(id) or PARTS[kind_of(id)]) == group]
        of_group = asked.visibility.get(group, asked.visibility.get(OTHERS, Visibility.VISIBLE))
        seen = [id for id in mine if _is_seen(asked, id)]
        if of_group is Visibility.VISIBLE and len(seen) == len(mine):
            yield group
        else:
            yield from seen


def _ids(asked: Assignment) -> list[str]:
    written = [f"written[{one.label}]" for one in asked.family.stages] if asked.written else []
    return [*(one.id for one in planned_checks(asked)), *written]


def _is_seen(asked: Assignment, id: str) -> bool:
    return asked.visibility_of(id) is Visibility.VISIBLE


def _hide_points(points: dict[str, Any], asked: Assignment) -> None:
    """What only pays for checks that are shown later is told as one number."""
    hidden = [id for id in _ids(asked) if not _is_seen(asked, id)]
    seen = {payer for id in _ids(asked) if _is_seen(asked, id) for payer in _payers(asked, id)}
    later = 0.0
    for id in [one for one in points.get("checks", {}) if not _is_seen(asked, one)]:
        amount = points["checks"].pop(id)
        points[str(group_of(id))] -= amount
        later += amount
    of_hidden = {payer for id in hidden for payer in _payers(asked, id)}
    if not _is_seen(asked, "own"):
        of_hidden.add(("", "own"))
    for table, key in of_hidden - seen:
        later += points.get(table, {}).pop(key, 0) if table else points.pop(key, 0)
    for table in ("checks", "stages", "parts"):
        if table in points and not points[table]:
            del points[table]
    if later:
        points["told_later"] = later


def _payers(asked: Assignment, id: str) -> Iterator[tuple[str, str]]:
    """The entries below [points] that may pay for a check: the table, and the key in it."""
    kind = kinds().get(kind_of(id))
    if kind is None:
        return
    yield "", kind.group
    if kind.part:
        yield "parts", kind.part
    label = id.partition("[")[2].rstrip("]")
    if judges_stage(id) and label in {one.label for one in asked.family.stages}:
        yield "stages", label
        yield "parts", asked.family.stage(label).part
