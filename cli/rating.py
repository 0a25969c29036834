"""``vitcheck selftest --generated``: rates of what is said of programs that nobody has seen."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vitcheck.checks.selftest.rates import Row

_PARTS = {"right": 1, "wrong": 1, "unfinished": 4, "odd": 4}  # of so many right ones, one of each
_CAUSES = 20  # of those that cost right programs points


def rate(corpus: Path, count: int, seed: str, kept: Path | None, jobs: int) -> int:
    """Print the rates; how many times the grader itself failed.

    What ``kept`` holds of this seed is not graded again, and what is graded is added to it.
    """
    from vitcheck.checks.selftest.rates import GRADER_FAILED, measured

    rows = {row.program.name: row for row in _read(kept)}
    wanted = [(kind, seed, number) for kind, part in _PARTS.items() for number in range(count // part)]
    missing = [one for one in wanted if _name(*one) not in rows]
    for row in measured(corpus, missing, jobs):
        rows[row.program.name] = row
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(row.to_json() + "\n")
    asked = [rows[_name(*one)] for one in wanted]
    click.echo("\n".join(_lines(asked)))
    return sum(row.told.status == GRADER_FAILED for row in asked)


def _name(kind: str, seed: str, number: int) -> str:
    return f"{kind}_{seed}_{number:04}"


def _read(kept: Path | None) -> Sequence[Row]:
    from vitcheck.checks.selftest.rates import Row

    if kept is None or not kept.exists():
        return []
    return [Row.from_json(line) for line in kept.read_text(encoding="utf-8").splitlines()]


def _lines(rows: Sequence[Row]) -> list[str]:
    """A table for each kind, and why right programs lost points."""
    from vitcheck.checks.selftest import rates

    tables = {
        "right": rates.right_rates,
        "wrong": rates.wrong_rates,
        "unfinished": rates.unfinished_rates,
        "odd": rates.right_rates,
    }
    lines = []
    for kind, count in tables.items():
        own = [row for row in rows if row.program.kind == kind]
        lines += ["", f"| {kind} | {len(own)} |", "| --- | ---: |"]
        lines += [
            f"| {word} | {number} |" for word, number in {**count(own), **rates.own_failures(own)}.items()
        ]
    costly = rates.causes([row for row in rows if row.program.kind == "right"])[:_CAUSES]
    lines += ["", "Why right programs lost points:"]
    return [*lines, *(f"- {len(names)}: {cause} ({', '.join(names[:3])})" for cause, names in costly)]
