"""Decisions about many submissions, as a table: points, comments, extra time, late days."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any

import click

_WHOLE = {"extra_time": "extra_hours", "late_days": "late_days"}  # numbers that are whole, and not below 0


def read_decisions(table: Path, points: click.ParamType[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Map each submission to what changes about it.

    Raises click.UsageError, with the row, for what cannot be read: then nothing is changed.
    """
    found = {}
    for number, row in enumerate(rows_of(table, "submission"), 2):
        try:
            changes = _changes(row, points)
        except (ValueError, click.BadParameter) as error:
            raise click.UsageError(f"{table}, row {number}: {error}") from None
        if changes:
            found[row["submission"]] = changes
    return found


def read_marks(tables: Sequence[Path]) -> dict[str, dict[str, float | None]]:
    """Map each submission to the points for its answers, by question; empty cells say nothing.

    Raises click.UsageError, with the row, for what cannot be read.
    """
    found: dict[str, dict[str, float | None]] = {}
    for table in tables:
        for number, row in enumerate(rows_of(table, "submission"), 2):
            for question, cell in row.items():
                if question != "submission" and cell:
                    found.setdefault(row["submission"], {})[question] = _points(
                        cell, f"{table}, row {number}"
                    )
    return found


def _points(cell: str, where: str) -> float:
    try:
        given = float(cell)
    except ValueError:
        given = -1.0
    if not isfinite(given) or given < 0:
        raise click.UsageError(f"{where}: {cell} is not a number of points")
    return given


def rows_of(table: Path, *needed: str) -> list[dict[str, str]]:
    """The rows of a CSV that has at least these columns. Raises click.UsageError."""
    from vitcheck.reports.formats.rosters import RosterError, read_roster, undefused

    try:
        read = read_roster(table.read_bytes())
    except (RosterError, OSError) as error:
        raise click.UsageError(f"{table}: {error}") from None
    if missing := [one for one in needed if one not in read.header]:
        raise click.UsageError(f"{table} has no column {missing[0]}, but {', '.join(read.header)}")
    return [{name: undefused(cell).strip() for name, cell in row.items()} for row in read.rows]


def _changes(row: dict[str, str], points: click.ParamType[dict[str, Any]]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if cell := row.get("points", ""):
        changes |= points.convert(cell, None, None)
    if cell := row.get("comment", ""):
        changes["comment"] = cell
    for column, key in _WHOLE.items():
        if cell := row.get(column, ""):
            if not cell.isdecimal():
                raise ValueError(f"{column} is {cell}, and no whole number")
            changes[key] = int(cell)
    return changes
