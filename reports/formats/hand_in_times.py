"""When students handed in, as tables of learning management systems say it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any

from .rosters import Identity, RosterError, read_roster

_MOODLE = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M")  # in English, without a zone
_GRADESCOPE = "%Y-%m-%d %H:%M:%S %z"
_NONE = ("", "-")  # of who has not handed in


@dataclass(frozen=True)
class _Source:
    """A table that tells it: the column of the time, and those that say who."""

    column: str
    identity: Identity
    number: str = ""  # the column of the number that stands behind a name in what the system gives out

    def find(self, name: str, rows: Sequence[Mapping[str, str]]) -> list[Mapping[str, str]]:
        """List the rows that ``name`` may be."""
        number = name.rpartition("_")[2]
        numbered = [row for row in rows if self.number and row.get(self.number) == number]
        return numbered or self.identity.find(name, rows)


_SOURCES = (
    _Source("submitted_at", Identity(("user_id", "login_id", "sis_user_id"), ("name",)), "user_id"),
    _Source(
        "Last modified (submission)",
        Identity(("Username", "ID number", "Email address"), ("Full name",), "Identifier"),
    ),
    _Source("Submission Time", Identity(("Email", "SID"), ("Name",))),
    _Source("submitted", Identity(("submission",), ())),
)


def hand_in_times(content: bytes, names: Iterable[str], zone: tzinfo | None) -> dict[str, datetime]:
    """Map each of ``names`` that the table has to its time; where none has a zone, it is this one.

    It is what Canvas's API gives of an assignment's submissions (JSON), Moodle's grading worksheet,
    Gradescope's table of grades, or a CSV with the columns submission and submitted. Raises RosterError.
    """
    rows = _rows(content)
    source = next((one for one in _SOURCES if rows and one.column in rows[0]), None)
    if source is None:
        columns = ", ".join(one.column for one in _SOURCES)
        raise RosterError(f"the table says no times: none of its columns is one of {columns}")
    found = {}
    for name in names:
        mine = source.find(name, rows)
        if len(mine) == 1 and mine[0][source.column].strip() not in _NONE:
            found[name] = _time(mine[0][source.column].strip(), zone)
    return found


def _rows(content: bytes) -> Sequence[Mapping[str, str]]:
    if content.lstrip()[:1] not in (b"[", b"{"):
        return read_roster(content).rows
    try:
        given = json.loads(content)
    except ValueError as error:
        raise RosterError(f"the table is no JSON: {error}") from None
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise RosterError("the table is no list of submissions, as Canvas's API gives it")
    return [_flat(one) for one in given]


def _flat(row: Mapping[str, Any]) -> dict[str, str]:
    """With what it says of the user."""
    whole = {**(row.get("user") or {}), **row}
    return {name: "" if one is None else str(one) for name, one in whole.items()}


def _time(text: str, zone: tzinfo | None) -> datetime:
    for form in (_GRADESCOPE, *_MOODLE):
        try:
            found = datetime.strptime(text, form)
            break
        except ValueError:
            continue
    else:
        try:
            found = datetime.fromisoformat(text.replace("Z", "+00:00"))
        except ValueError:
            raise RosterError(f"{text!r} is no time such as 2026-11-20T23:59:00+01:00") from None
    return found if found.tzinfo else found.replace(tzinfo=zone)
