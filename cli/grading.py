"""``vitcheck grade``: the submissions of a class."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import PATH, SEEDS, assignment_option, existing, load

if TYPE_CHECKING:
    from rich.progress import Progress

    from vitcheck.checks.many import Class
    from vitcheck.checks.result import Result

_SIGNS = {"right": ("✓", "green"), "wrong": ("✗", "red"), "stopped": ("!", "yellow")}


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=PATH, callback=existing)
@assignment_option
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("grades"),
    show_default=True,
    help="The folder for the reports.",
)
@click.option("--jobs", type=click.IntRange(min=1), help="Submissions at a time.  [default: one a core]")
@click.option(
    "--seed",
    type=SEEDS,
    help="Sizes, weights and images are drawn from it; the same one repeats a run.  [default: a new one]",
)
@click.option(
    "--checks",
    type=click.Path(file_okay=False, path_type=Path),
    callback=existing,
    help="A folder with further checks, as pytest finds them.",
)
def grade(
    paths: tuple[Path, ...],
    assignment: str,
    out: Path,
    jobs: int | None,
    seed: int | None,
    checks: Path | None,
) -> None:
    """Grade a class, and write its reports.

    Every file, folder or archive directly inside each PATH is a submission; a PATH that is no folder is one
    itself. Writes index.html, grades.csv and a report for each submission into the folder --out.
    """
    from vitcheck.checks.engines.local import Local
    from vitcheck.checks.many import grade_many
    from vitcheck.submissions.source import find_submissions

    found = find_submissions(paths)
    if not found:
        raise click.UsageError(f"no folder, .py, .ipynb or archive inside {', '.join(map(str, paths))}")
    asked = load(assignment)
    seed = secrets.randbelow(2**31) if seed is None else seed
    jobs = jobs or os.cpu_count() or 1
    try:
        with _progress(len(found)) as progress:
            graded = grade_many(
                found,
                asked,
                out,
                engine=Local(jobs),
                seed=seed,
                checks=checks,
                on_result=lambda result: _show(result, progress),
            )
    except KeyboardInterrupt:
        click.echo(f"Interrupted; what was finished is in {out}", err=True)
        sys.exit(exits.INTERRUPTED)
    _summarise(graded, out, seed)
    sys.exit(exits.HARNESS if graded.lost else exits.FINE)


@contextmanager
def _progress(total: int) -> Iterator[Progress]:
    """Show a bar below the lines, if this is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    console = Console(highlight=False, soft_wrap=True)
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        progress.add_task("", total=total)
        yield progress


def _show(result: Result, progress: Progress) -> None:
    from rich.text import Text

    from vitcheck.reports.standing import standing
    from vitcheck.reports.text import NAME_LIMIT, one_line, points

    stands = standing(result)
    sign, style = _SIGNS[stands.tone]
    score = f"{points(result.score.earned):>6} of {points(result.score.possible)}"
    name = one_line(result.submission, NAME_LIMIT)
    brief = f"  {stands.brief}" if stands.brief else ""
    progress.console.print(Text.assemble((sign, style), f" {score}  ", (name, "bold"), brief))
    progress.advance(progress.task_ids[0])


def _summarise(graded: Class, out: Path, seed: int) -> None:
    from vitcheck.reports.standing import standing
    from vitcheck.reports.text import count

    tones = [standing(one).tone for one in graded.results]
    click.echo(
        f"\n{count(len(tones), 'submission')}: {tones.count('right')} right, {tones.count('wrong')} with"
        f" something wrong, {tones.count('stopped')} that could not be graded"
    )
    if graded.lost:
        click.echo(f"The grader itself failed on {', '.join(graded.lost)}", err=True)
    click.echo(f"{out / 'index.html'} shows all of them, {out / 'grades.csv'} the grades (seed {seed})")
