"""``vitcheck selftest --generated``: rates of what is said of programs that nobody has seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits

if TYPE_CHECKING:
    from vitcheck.checks.tools.selftest.kept_rows import GradedProgram
    from vitcheck.checks.tools.selftest.published import Published

_SHARES = {"right": 1, "wrong": 1, "unfinished": 4, "part": 8, "odd": 8}  # one of each, of so many right ones


def rate(corpus: Path, count: int, seed: str, kept: Path | None, jobs: int) -> int:
    """Print the rates; the exit code.

    What ``kept`` holds of this seed is not graded again, and what is graded is added to it.
    """
    from vitcheck.checks.tools.selftest.published import load_published
    from vitcheck.checks.tools.selftest.rate_tables import cause_lines, rate_lines

    click.echo(f"The seed is {seed}")
    try:
        rows = _rows(corpus, _wanted(count, seed), kept, jobs)
    except KeyboardInterrupt:
        click.echo("Interrupted" + (f"; the same command goes on from {kept}" if kept else ""))
        return exits.INTERRUPTED
    published = load_published(corpus)
    click.echo("\n".join([*rate_lines(rows, published), *cause_lines(rows), ""]))
    return _code(rows, published)


def _wanted(count: int, seed: str) -> dict[str, tuple[str, str, int]]:
    """The programs that are asked for, by name."""
    drawn = ((kind, seed, number) for kind, share in _SHARES.items() for number in range(count // share))
    return {f"{kind}_{seed}_{number:04}": (kind, seed, number) for kind, _, number in drawn}


def _rows(
    corpus: Path, wanted: dict[str, tuple[str, str, int]], kept: Path | None, jobs: int
) -> Sequence[GradedProgram]:
    from vitcheck.checks.tools.selftest.kept_rows import kept_rows, measured

    rows = {row.program.name: row for row in (kept_rows(kept) if kept else [])}
    missing = [one for name, one in wanted.items() if name not in rows]
    for row in measured(corpus, missing, jobs):
        rows[row.program.name] = row
        if kept is not None:
            with kept.open("a", encoding="utf-8") as file:
                file.write(row.to_json() + "\n")
    return [rows[name] for name in wanted]


def _code(rows: Sequence[GradedProgram], published: Published | None) -> int:
    """Print what must not be: failures of the grader, and rates that have fallen."""
    from vitcheck.checks.tools.selftest.program_verdict import GRADER_FAILED

    failed = [row for row in rows if row.told.status == GRADER_FAILED]
    for row in failed:
        click.echo(f"The grader itself failed on {row.program.name}: {row.told.cause}")
    fell = list(_fallen(rows, published)) if published else []
    for line in fell:
        click.echo(line)
    return exits.HARNESS if failed else exits.WRONG if fell else exits.FINE


def _fallen(rows: Sequence[GradedProgram], published: Published) -> Iterator[str]:
    from vitcheck.checks.tools.selftest.published import fallen
    from vitcheck.checks.tools.selftest.rates import rates

    for kind, one, before in fallen(rates(rows), published):
        yield (
            f"Worse than chance allows: {kind}, {one.measure.name}: {one.count} of {one.total},"
            f" and {before[0]} of {before[1]} were published"
        )
