"""``vitcheck selftest``: how often vitcheck itself is wrong."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import refusing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vitcheck.checks.tools.selftest.cases import Case

_REPEATED = 6  # programs: with 50 seeds a third as many gradings as the corpus has programs
_COUNT = click.IntRange(min=1)


@click.command()
@click.argument("corpus", default="tests", type=click.Path(file_okay=False, path_type=Path))
@click.option("--sample", type=_COUNT, help="Take so many of the programs.  [default: all]")
@click.option(
    "--seeds",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="To look for verdicts that change.",
)
@click.option("--jobs", type=_COUNT, help="Programs at a time.  [default: one a core]")
@click.option(
    "--generated",
    type=_COUNT,
    metavar="N",
    help="Make N right and N wrong programs instead, N/4 unfinished, N/8 parts, N/8 in odd surroundings.",
)
@click.option("--seed", default="0", show_default=True, help="What is generated follows from it.")
@click.option(
    "--kept", type=click.Path(dir_okay=False, path_type=Path), help="Keep what is graded there, and go on."
)
def selftest(
    corpus: Path,
    sample: int | None,
    seeds: int,
    jobs: int | None,
    generated: int | None,
    seed: str,
    kept: Path | None,
) -> None:
    """Measure how often correct work is failed, and how often mistakes are found, placed and named.

    CORPUS is the folder of programs whose mistakes are known: tests, in vitcheck's repository.
    """
    jobs = jobs or os.cpu_count() or 1
    if generated:
        from vitcheck.commands.rating import rate

        with refusing(ValueError, parameter="CORPUS"):
            sys.exit(rate(corpus, generated, seed, kept, jobs))
    from vitcheck.checks.tools.selftest.cases import load_cases
    from vitcheck.checks.tools.selftest.corpus_counts import every

    with refusing(ValueError, parameter="CORPUS"):
        cases = load_cases(corpus)
    chosen = every(cases, sample) if sample else cases
    failed = _measured(chosen, jobs)
    failed += _repeated(every(chosen, _REPEATED), seeds, jobs) if seeds else 0
    sys.exit(exits.WRONG if failed else exits.FINE)


def _measured(cases: Sequence[Case], jobs: int) -> int:
    """Print the table and what falls short; the number of correct programs that were failed."""
    from vitcheck.checks.tools.selftest.corpus_counts import Counts, measure, table

    rows = {name: Counts() for name in [*dict.fromkeys(case.group for case in cases), "all"]}
    for case, verdict in measure(cases, jobs):
        rows[case.group].add(case, verdict)
        rows["all"].add(case, verdict)
    click.echo("\n".join(table(rows.items())))
    click.echo("\nNot fully right:\n" + "\n".join(f"- {line}" for line in rows["all"].short))
    return rows["all"].numbers["failed"]


def _repeated(cases: Sequence[Case], seeds: int, jobs: int) -> int:
    """Print which verdicts change with the seed; how many."""
    from vitcheck.checks.tools.selftest.corpus_counts import flaky

    changing = [case.name for case, changes in flaky(cases, seeds, jobs) if changes]
    click.echo(f"\nOf {len(cases)} programs under {seeds} seeds, {len(changing)} got more than one verdict")
    click.echo("\n".join(f"- {name}" for name in changing))
    return len(changing)
