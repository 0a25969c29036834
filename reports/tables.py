"""The table of grades that a spreadsheet or a learning management system reads."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from ..checks.result import CheckResult, Result
from .classes import by_name
from .text import NAME_LIMIT, one_line, points

# a spreadsheet computes what begins with one of these, and some take those of full width for them
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def grades_csv(results: Sequence[Result]) -> str:
    """A header, the points possible, and a row for each submission, sorted by name.

    Columns are the submission, its status, the points of each stage's checks, those of the checks
    of the whole model by the first word of their ids, and the score. A cell is empty where a submission
    has no such check.
    """
    columns = _columns(results)
    possible = [
        points(max((_sum(one, column, "points") or 0.0 for one in results), default=0.0))
        for column in columns
    ]
    best = points(max((one.score.possible for one in results), default=0.0))
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["submission", "status", *map(text_cell, columns), "score"])
    writer.writerow(["points possible", "", *possible, best])
    writer.writerows(_row(result, columns) for result in by_name(results))
    return table.getvalue()


def text_cell(text: str) -> str:
    """``text`` so that no spreadsheet takes it for a formula."""
    line = one_line(text, NAME_LIMIT)
    return f"'{line}" if line.startswith(_FORMULA) else line


def _columns(results: Sequence[Result]) -> list[str]:
    checks = [check for result in results for check in result.checks]
    stages = {check.stage for check in checks if check.stage}
    return [*sorted(stages), *sorted({_column(check) for check in checks} - stages)]


def _column(check: CheckResult) -> str:
    return check.stage or re.split(r"[^\w-]", check.id, maxsplit=1)[0]


def _row(result: Result, columns: Sequence[str]) -> list[str]:
    sums = [_sum(result, column, "earned") for column in columns]
    cells = ["" if one is None else points(one) for one in sums]
    return [text_cell(result.submission), result.status.value, *cells, points(result.score.earned)]


def _sum(result: Result, column: str, what: str) -> float | None:
    mine = [float(getattr(check, what)) for check in result.checks if _column(check) == column]
    return sum(mine) if mine else None
