"""``vitcheck grade``: the submissions of a class."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGINT, default_int_handler, signal
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.commands.engine_options import chosen, engine_option, jobs_option, scheduler_option
from vitcheck.handed_in import handed_in
from vitcheck.options import (
    PATH,
    SEEDS,
    assignment_option,
    checks_option,
    existing,
    gradebook_option,
    isolation_option,
    load,
    open_or_refuse,
    sandbox_or_refuse,
)
from vitcheck.pseudonyms import pseudonyms_option

if TYPE_CHECKING:
    from vitcheck.checks.classes.engines import Engine
    from vitcheck.checks.classes.gradebook.store import Gradebook
    from vitcheck.checks.classes.many import Class


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
@jobs_option
@engine_option
@scheduler_option
@click.option(
    "--seed",
    type=SEEDS,
    help="Sizes, weights and images are drawn from it; the same one repeats a run.  [default: a new one]",
)
@checks_option
@pseudonyms_option
@isolation_option("auto")
@click.option(
    "--retry",
    is_flag=True,
    help="Grade anew what ran out of time or memory, one after the other.",
)
@click.option("--force", is_flag=True, help="Grade anew what is unchanged since it was graded, too.")
@gradebook_option("OUT/gradebook.sqlite")
def grade(
    paths: tuple[Path, ...],
    assignment: str,
    out: Path,
    jobs: int | None,
    kind: str,
    scheduler: str | None,
    seed: int | None,
    checks: Path | None,
    pseudonyms: Path | None,
    isolation: str,
    retry: bool,
    force: bool,
    gradebook: str | None,
) -> None:
    """Grade a class, and write its reports.

    Every file, folder or archive directly inside each PATH is a submission; a PATH that is no folder is one
    itself. A batch that Canvas or Moodle gave out, unpacked or not, is read as it is, with a submission for
    each student. Writes index.html, grades.csv, grades.json and a report for each submission into the folder
    --out. What was graded before, as it stands, is taken from the gradebook; a run that was interrupted is
    continued.
    """
    from vitcheck.checks.classes.many import grade_many
    from vitcheck.checks.classes.tasks import Setting
    from vitcheck.progress import ClassProgress
    from vitcheck.reports.words.assigned import asked_text
    from vitcheck.submissions.host.popular import popular_packages
    from vitcheck.submissions.sandbox.isolation import Isolation

    found, asked = handed_in(paths, out, pseudonyms), load(assignment)
    engine = chosen(kind, scheduler, 1 if retry and kind == "local" else jobs)
    click.echo(f"assignment: {asked_text(asked.asked)}")
    _show_isolation(isolation, kind)
    book = open_or_refuse(gradebook or str(out / "gradebook.sqlite"), create=True)
    with _end_told(book), book, ClassProgress() as progress, _first_interrupt_finishes(engine):
        graded = grade_many(
            {name: one.path for name, one in found.items()},
            asked,
            out,
            engine=engine,
            gradebook=book,
            watch=progress,
            setting=Setting(Isolation(isolation), popular_packages([one.path for one in found.values()])),
            seed=seed,
            checks=checks,
            force=force,
            retry=retry,
            anonymous=pseudonyms is not None,
            places={name: one.words(name) for name, one in found.items()},
        )
    click.echo(f"\n{progress.summary()}")
    seed_used = f" (seed {graded.seed})" if graded.graded else ""
    click.echo(f"{out / 'index.html'} shows all of them, {out / 'grades.csv'} the grades{seed_used}")
    sys.exit(_exit_code(graded, book))


def _show_isolation(isolation: str, engine: str) -> None:
    """Try what this machine can do, and say it; the machines of a cluster try for themselves."""
    if engine != "local":
        return
    sandbox = sandbox_or_refuse(isolation)
    if sandbox is None:
        click.echo("isolation: limits alone; submissions run with your rights and with the network\n")
    else:
        click.echo(f"isolation: {', '.join(sandbox.layers)}")
        click.echo("".join(f"missing: {name}: {why}\n" for name, why in sandbox.missing))


@contextmanager
def _end_told(book: Gradebook) -> Iterator[None]:
    """What ends a run early is said in a sentence, with its exit code."""
    from vitcheck.checks.classes.engines import EngineError
    from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError

    try:
        yield
    except KeyboardInterrupt:
        click.echo(f"Stopped. {_continues(book)}", err=True)
        sys.exit(exits.INTERRUPTED)
    except (EngineError, GradebookError, OSError) as error:
        click.echo(f"{error}. {_continues(book)}", err=True)
        sys.exit(exits.HARNESS)


def _continues(book: Gradebook) -> str:
    return f"What was finished is in {book.place}; the same command continues."


@contextmanager
def _first_interrupt_finishes(engine: Engine) -> Iterator[None]:
    """Ctrl-C lets what runs be finished; once more, and it is KeyboardInterrupt as ever."""

    def finish(*_: object) -> None:
        signal(SIGINT, default_int_handler)
        engine.finish()
        click.echo("Finishing what runs. Ctrl-C again stops at once; what is finished is kept.", err=True)

    before = signal(SIGINT, finish)
    try:
        yield
    finally:
        signal(SIGINT, before)


def _exit_code(graded: Class, book: Gradebook) -> int:
    """Say what is not as it should be."""
    if graded.outdated:
        names = ", ".join(_named(one) for one in graded.outdated)
        click.echo(
            f"Adjusted for another version of the file, which still counts: {names}. `vitcheck gradebook"
            " confirm NAME` keeps that, `adjust` changes it",
            err=True,
        )
    if graded.lost:
        lost = ", ".join(map(_named, graded.lost))
        click.echo(
            f"Not finished, for the grader itself failed or the machine had too much to do: {lost}. The same"
            " command with --retry tries them again",
            err=True,
        )
        return exits.HARNESS
    if graded.left:
        click.echo(f"Interrupted: {graded.left} not graded. {_continues(book)}", err=True)
        return exits.INTERRUPTED
    return exits.FINE


def _named(name: str) -> str:
    from vitcheck.reports.words.text import NAME_LIMIT, one_line

    return one_line(name, NAME_LIMIT)
