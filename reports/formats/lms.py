"""Grades in the form that learning management systems import, for the students in a roster from there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ..words.spreadsheets import text_cell
from ..words.text import points
from .rosters import Identity, Roster, RosterError

_CANVAS_POINTS = "    Points Possible"  # in the column Student, as Canvas writes it
_WORTH = re.compile(r"\[(?:Total Pts: )?(?:up to )?([\d.]+)[^\]]*\]")
# what systems put behind an assignment's name
_SUFFIX = re.compile(r"\s*(\(\d+\)|\[[^\]]*\](\s*\|\s*\d+)?)$")


@dataclass(frozen=True)
class Grade:
    """The points that count of a submission, and what was decided about it, in words."""

    submission: str
    points: float
    remark: str = ""


@dataclass(frozen=True)
class Lms:
    """How a system wants its file.

    ``header`` is that of a file without a roster, in which ``login`` holds the submissions' names; of a
    roster, its columns in ``kept`` are taken over, or all. ``grade`` is the header of a new column.
    """

    identity: Identity
    login: str
    header: tuple[str, ...]
    grade: str = "{name}"
    kept: tuple[str, ...] = ()
    fixed: str | None = None  # the only column of a roster that grades may stand in
    worth: str | None = None  # the column with the points possible
    remark: str | None = None
    points_row: Mapping[str, str] | None = None


SYSTEMS: Mapping[str, Lms] = MappingProxyType(
    {
        "canvas": Lms(
            Identity(("ID", "SIS User ID", "SIS Login ID", "Integration ID"), ("Student",), "ID"),
            login="SIS Login ID",
            header=("Student", "ID", "SIS Login ID", "Section"),
            kept=(
                *("Student", "LastName", "FirstName", "ID", "SIS User ID", "SIS Login ID"),
                *("Integration ID", "Root Account", "Section"),
            ),
            points_row={"Student": _CANVAS_POINTS},
        ),
        "moodle": Lms(
            Identity(("Username", "ID number", "Email address"), ("Full name",), "Identifier"),
            login="username",
            header=("username",),
            fixed="Grade",
            worth="Maximum Grade",
            remark="Feedback comments",
        ),
        "blackboard": Lms(
            Identity(("Username", "Student ID"), ()),
            login="Username",
            header=("Username",),
            grade="{name} [Total Pts: {possible} Score]",
            kept=("Last Name", "First Name", "Username", "Student ID"),
        ),
        "sakai": Lms(
            Identity(("Student ID",), ("Student Name", "Name")),
            login="Student ID",
            header=("Student ID", "Student Name"),
            grade="{name} [{possible}]",
            kept=("Student ID", "Student Name", "Name"),
        ),
    }
)


@dataclass(frozen=True)
class GradeFile:
    """The file, and each submission that is not in it with the reason."""

    content: bytes
    left_out: tuple[tuple[str, str], ...]


def grade_file(
    system: str, grades: Sequence[Grade], name: str, possible: float, roster: Roster | None = None
) -> GradeFile:
    """Write ``grades`` of the assignment ``name`` for ``system``, a key of ``SYSTEMS``.

    A column of the roster that is called ``name`` is used, else there is a new one. Cells of the roster stay
    as they are, for the system to recognise; all other text is no formula. Without a roster the names of the
    submissions are taken for logins. Raises RosterError where the roster is another system's, or wants other
    points.
    """
    lms = SYSTEMS[system]
    if roster is None:
        return _for_logins(lms, grades, name, possible)
    _check_columns(lms, system, roster)
    column = _column(lms, roster, name, possible)
    _check_worth(lms, roster, column, possible)
    found, left_out = _matched(lms, grades, roster)
    rows = [_row(lms, row, column, grade) for row, grade in found]
    kept = [one for one in roster.header if not lms.kept or one in lms.kept]
    header = [*dict.fromkeys([*kept, column])]
    return GradeFile(roster.write([*_points_rows(lms, column, possible), *rows], header), left_out)


def _for_logins(lms: Lms, grades: Iterable[Grade], name: str, possible: float) -> GradeFile:
    column = lms.grade.format(name=text_cell(name), possible=points(possible))
    rows = [_row(lms, {lms.login: text_cell(one.submission)}, column, one) for one in grades]
    table = Roster(lms.header, ())
    return GradeFile(table.write([*_points_rows(lms, column, possible), *rows], [*lms.header, column]), ())


def _points_rows(lms: Lms, column: str, possible: float) -> list[dict[str, str]]:
    return [{**lms.points_row, column: points(possible)}] if lms.points_row else []


def _row(lms: Lms, student: Mapping[str, str], column: str, grade: Grade) -> dict[str, str]:
    row = {**student, column: points(grade.points)}
    if lms.remark and lms.remark in student and grade.remark:
        row[lms.remark] = text_cell(grade.remark)
    return row


def _check_columns(lms: Lms, system: str, roster: Roster) -> None:
    wanted = [*lms.identity.ids, *filter(None, [lms.identity.number])]
    if not any(one in roster.header for one in wanted):
        raise RosterError(
            f"the roster has none of the columns {', '.join(wanted)}, so that it is none of {system}'s (in "
            f"English). It has {', '.join(roster.header)}"
        )


def _column(lms: Lms, roster: Roster, name: str, possible: float) -> str:
    if lms.fixed:
        return lms.fixed
    same = [one for one in roster.header if name in (one, _SUFFIX.sub("", one))]
    if len(same) > 1:
        raise RosterError(f"the roster has several columns {name}: name one of {', '.join(same)}")
    return same[0] if same else lms.grade.format(name=text_cell(name), possible=points(possible))


def _check_worth(lms: Lms, roster: Roster, column: str, possible: float) -> None:
    there = _worth(lms, roster, column)
    if there is not None and abs(there - possible) > 0.005:
        raise RosterError(
            f"{column} is worth {points(there)} points in the roster and {points(possible)} in vitcheck. "
            "Make them equal, there or with [points] of the assignment file"
        )


def _worth(lms: Lms, roster: Roster, column: str) -> float | None:
    in_header = _WORTH.search(column)
    cells = [in_header[1] if in_header else ""]
    if lms.worth:
        cells += [row.get(lms.worth, "") for row in roster.rows]
    if lms.points_row:
        cells += [row.get(column, "") for row in roster.rows if _is_points_row(row)]
    numbers = [float(cell) for cell in cells if re.fullmatch(r"\d+(\.\d*)?", cell.strip())]
    return numbers[0] if numbers else None


def _is_points_row(row: Mapping[str, str]) -> bool:
    return row.get("Student", "").strip() == _CANVAS_POINTS.strip()


def _matched(
    lms: Lms, grades: Iterable[Grade], roster: Roster
) -> tuple[list[tuple[Mapping[str, str], Grade]], tuple[tuple[str, str], ...]]:
    """Pair students with grades, each with one; nothing is guessed."""
    students = [row for row in roster.rows if not _is_points_row(row)]
    candidates = [(one, lms.identity.find(one.submission, students)) for one in grades]
    claims = [id(rows[0]) for _, rows in candidates if len(rows) == 1]
    found, left_out = [], []
    for grade, rows in candidates:
        if len(rows) != 1:
            left_out.append(
                (grade.submission, "several students are called so" if rows else "not in the roster")
            )
        elif claims.count(id(rows[0])) > 1:
            left_out.append((grade.submission, "another submission is of the same student"))
        else:
            found.append((rows[0], grade))
    return found, tuple(left_out)
