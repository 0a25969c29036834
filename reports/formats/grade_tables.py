"""The grades as a spreadsheet, a learning management system or a program reads them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence

from ..views.summaries import Summary
from ..words.spreadsheets import text_cell
from ..words.text import points


def grades_csv(rows: Sequence[Summary]) -> str:
    """A header, the points possible, and a row for each submission.

    Columns are the submission, its status, the points of each stage's checks, those of the checks
    of the whole model by the first word of their ids, and the score. A cell is empty where a submission
    has no such check. Where an instructor decided anything, the points that this adds stand before the
    score, and the remark after it.
    """
    columns = _columns(rows)
    possible: dict[str, str | float] = {"submission": "points possible", **_possible(rows, columns)}
    return csv_text(_header(rows, columns), [possible, *map(_row, rows)])


def grades_json(rows: Sequence[Summary]) -> str:
    """The same for programs: "points_possible" by column, and a row of the table for each of "submissions".

    Points are numbers of at most two decimals, and a row lacks what would be an empty cell. Names are as they
    were handed in, with every character that is not ASCII escaped.
    """
    columns = _columns(rows)
    header = _header(rows, columns)
    document = {
        "points_possible": _typed(_possible(rows, columns), header),
        "submissions": [_typed(_row(row), header) for row in rows],
    }
    return json.dumps(document, indent=1) + "\n"


def csv_text(header: Sequence[str], rows: Iterable[Mapping[str, str | float]]) -> str:
    """A table of the columns in ``header``; cells that a row lacks are empty, and none is a formula."""
    table = io.StringIO()
    writer = csv.DictWriter(table, header, extrasaction="ignore", lineterminator="\n")
    for row in ({name: name for name in header}, *rows):
        writer.writerow(
            {name: text_cell(one) if isinstance(one, str) else points(one) for name, one in row.items()}
        )
    return table.getvalue()


def _typed(row: Mapping[str, str | float], header: Sequence[str]) -> dict[str, str | float]:
    there = ((name, row[name]) for name in header if name in row)
    return {name: one if isinstance(one, str) else round(one, 2) for name, one in there}


def _columns(rows: Sequence[Summary]) -> list[str]:
    stages = {name for row in rows for name in row.checks if name in row.stages}
    return [*sorted(stages), *sorted({name for row in rows for name in row.checks} - stages)]


def _header(rows: Sequence[Summary], columns: Sequence[str]) -> list[str]:
    before, after = (["adjustment"], ["remark"]) if any(row.remark for row in rows) else ([], [])
    late = ["handed in"] if any(row.lateness for row in rows) else []
    return ["submission", "status", *columns, *before, "score", *after, *late]


def _possible(rows: Sequence[Summary], columns: Sequence[str]) -> dict[str, float]:
    best = {
        column: max(row.checks[column].possible for row in rows if column in row.checks) for column in columns
    }
    return best | {"score": max((row.score.possible for row in rows), default=0.0)}


def _row(row: Summary) -> dict[str, str | float]:
    about: dict[str, str | float] = {"submission": row.submission, "status": row.status.value}
    if row.unjudged:
        return {**about, "status": "not_finished", "remark": row.remark}
    return {name: one.earned for name, one in row.checks.items()} | {
        **about,
        "adjustment": row.score.earned - row.measured.earned,
        "score": row.score.earned,
        "remark": row.remark,
        "handed in": row.lateness,
    }
