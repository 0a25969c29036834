"""Names that stand for students while their work is graded and marked: a table that is kept apart."""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vitcheck.options import OUTPUT

if TYPE_CHECKING:
    from vitcheck.checks.record.result import Result

Command = TypeVar("Command", bound=Callable[..., Any])  # as click decorates it

_HEADER = ["submission", "pseudonym"]
_DIGITS = 100_000

pseudonyms_option = click.option(
    "--pseudonyms",
    type=OUTPUT,
    help="A table of names and pseudonyms (CSV), made where there is none. Keep it from who marks.",
)


def given_to(names: Iterable[str], table: Path) -> dict[str, str]:
    """Map each name to its pseudonym; new ones are drawn, and written to the table.

    Raises click.UsageError where the file is no such table, and OSError.
    """
    from vitcheck.reports.formats.grade_tables import csv_text
    from vitcheck.reports.writer import write_whole

    known = {name: one for one, name in names_in(table).items()} if table.exists() else {}
    taken = set(known.values())
    for name in names:
        if name not in known:
            known[name] = _new(taken)
            taken.add(known[name])
    rows = [dict(zip(_HEADER, pair, strict=True)) for pair in sorted(known.items())]
    write_whole(table, csv_text(_HEADER, rows).encode())
    return known


def names_in(table: Path) -> dict[str, str]:
    """Map each pseudonym to its name. Raises click.UsageError where the file is no such table."""
    from vitcheck.reports.formats.rosters import undefused

    try:
        rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
        return {row["pseudonym"]: undefused(row["submission"]) for row in rows}
    except (OSError, UnicodeDecodeError, csv.Error, KeyError) as error:
        raise click.UsageError(f"{table} is no table of pseudonyms: {error}") from None


def real(names: Mapping[str, str], pseudonym: str) -> str:
    """The name, where there is one."""
    return names.get(pseudonym, pseudonym)


def told_by_name(result: Result, names: Mapping[str, str]) -> Result:
    """The record with the name of its student wherever the pseudonym stands."""
    pseudonym = result.submission
    if pseudonym not in names:
        return result
    text = result.to_json().replace(pseudonym, json.dumps(names[pseudonym])[1:-1])
    return type(result).from_json(text, result.arrays)


def _new(taken: Iterable[str]) -> str:
    while (drawn := f"student-{secrets.randbelow(_DIGITS):05}") in taken:
        continue
    return drawn
