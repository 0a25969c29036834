"""The table of grades that a spreadsheet or a learning management system reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from .summaries import Summary
from .text import one_line, points

# a spreadsheet computes what begins with one of these, and some take those of full width for them
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


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


def csv_text(header: Sequence[str], rows: Iterable[Mapping[str, str | float]]) -> str:
    """A table of the columns in ``header``; cells that a row lacks are empty, and none is a formula."""
    table = io.StringIO()
    writer = csv.DictWriter(table, header, extrasaction="ignore", lineterminator="\n")
    for row in ({name: name for name in header}, *rows):
        writer.writerow(
            {name: text_cell(one) if isinstance(one, str) else points(one) for name, one in row.items()}
        )
    return table.getvalue()


def text_cell(text: str) -> str:
    """``text`` so that no spreadsheet takes it for a formula."""
    line = one_line(text)
    return f"'{line}" if line.startswith(FORMULA) else line


def _columns(rows: Sequence[Summary]) -> list[str]:
    stages = {name for row in rows for name in row.checks if name in row.stages}
    return [*sorted(stages), *sorted({name for row in rows for name in row.checks} - stages)]


def _possible(rows: Sequence[Summary], columns: Sequence[str]) -> dict[str, str | float]:
    best: dict[str, str | float] = {
        column: max(row.checks[column].possible for row in rows if column in row.checks) for column in columns
    }
    score = max((row.score.possible for row in rows), default=0.0)
    return best | {"submission": "points possible", "score": score}


def _row(row: Summary) -> dict[str, str | float]:
    sums: dict[str, str | float] = {name: one.earned for name, one in row.checks.items()}
    return sums | {
        "submission": row.submission,
        "status": row.status.value,
        "adjustment": row.score.earned - row.measured.earned,
        "score": row.score.earned,
        "remark": row.remark,
    }
