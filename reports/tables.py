"""The table of grades that a spreadsheet or a learning management system reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from .summaries import Summary
from .text import NAME_LIMIT, one_line, points

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet computes what begins with one of these


def grades_csv(rows: Sequence[Summary]) -> str:
    """A header, the points possible, and a row for each submission.

    Columns are the submission, its status, the points of each stage's checks, those of the checks
    of the whole model by the first word of their ids, and the score. A cell is empty where a submission
    has no such check. Where an instructor decided anything, the points that this adds stand before the
    score, and the remark after it.
    """
    columns = _columns(rows)
    with_remarks = [["adjustment"], ["remark"]] if any(row.remark for row in rows) else [[], []]
    header = ["submission", "status", *columns, *with_remarks[0], "score", *with_remarks[1]]
    return csv_text(header, [_possible(rows, columns), *map(_row, rows)])


def csv_text(header: Sequence[str], rows: Iterable[Mapping[str, str]]) -> str:
    """A table of the columns in ``header``; cells that a row lacks are empty."""
    table = io.StringIO()
    writer = csv.DictWriter(table, header, extrasaction="ignore", lineterminator="\n")
    writer.writerow({name: text_cell(name) for name in header})
    writer.writerows(rows)
    return table.getvalue()


def text_cell(text: str) -> str:
    """``text`` so that no spreadsheet takes it for a formula."""
    line = one_line(text, NAME_LIMIT)
    return f"'{line}" if line.startswith(_FORMULA) else line


def _columns(rows: Sequence[Summary]) -> list[str]:
    stages = {name for row in rows for name in row.checks if name in row.stages}
    return [*sorted(stages), *sorted({name for row in rows for name in row.checks} - stages)]


def _possible(rows: Sequence[Summary], columns: Sequence[str]) -> dict[str, str]:
    sums = {
        column: max((row.checks[column].possible for row in rows if column in row.checks), default=0.0)
        for column in columns
    }
    score = max((row.score.possible for row in rows), default=0.0)
    cells = {column: points(number) for column, number in (sums | {"score": score}).items()}
    return {"submission": "points possible"} | cells


def _row(row: Summary) -> dict[str, str]:
    sums = {name: points(one.earned) for name, one in row.checks.items()}
    return sums | {
        "submission": text_cell(row.submission),
        "status": row.status.value,
        "adjustment": points(row.score.earned - row.measured.earned),
        "score": points(row.score.earned),
        "remark": text_cell(row.remark),
    }
