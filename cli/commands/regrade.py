"""``vitcheck regrade``: a class anew, with what would change told before it is written."""

from __future__ import annotations

import sys
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.commands.engine_options import chosen, jobs_option
from vitcheck.handed_in import handed_in
from vitcheck.options import (
    PATH,
    assignment_option,
    checks_option,
    existing,
    gradebook_option,
    isolation_option,
    load,
    open_or_refuse,
)
from vitcheck.pseudonyms import pseudonyms_option

if TYPE_CHECKING:
    from vitcheck.checks.classes.regrading import Change


@click.command()
@click.argument("grades", metavar="GRADES", type=PATH, callback=existing)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=PATH, callback=existing)
@assignment_option
@checks_option
@pseudonyms_option
@click.option("--preview", is_flag=True, help="Write nothing.")
@click.option("--yes", is_flag=True, help="Do not ask before it is written.")
@jobs_option
@isolation_option("auto")
@gradebook_option("GRADES/gradebook.sqlite")
def regrade(
    grades: Path,
    paths: tuple[Path, ...],
    assignment: str,
    checks: Path | None,
    pseudonyms: Path | None,
    preview: bool,
    yes: bool,
    jobs: int | None,
    isolation: str,
    gradebook: str | None,
) -> None:
    """Say who would change if the class in GRADES were graded by the assignment as it is today.

    After a change of points, titles, texts or [visibility], nothing is graded: what the gradebook has is
    enough. After any other change, or with another version of vitcheck, the submissions are needed: PATH is
    what `vitcheck grade` was given. Old results stay in the history.
    """
    from vitcheck.checks.assignment.commands import again
    from vitcheck.checks.classes.engines import EngineError
    from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError
    from vitcheck.checks.classes.many import work_of, written_anew
    from vitcheck.checks.classes.regrading import changes, graded_anew, kept_work, seed_of
    from vitcheck.checks.classes.tasks import Setting, Task
    from vitcheck.submissions.host.popular import popular_packages
    from vitcheck.submissions.reading.packing import pack_folder
    from vitcheck.submissions.sandbox.isolation import Isolation

    asked, own = load(assignment), pack_folder(checks) if checks else None
    class_ = handed_in(paths, grades, pseudonyms) if paths else {}
    setting = Setting(Isolation(isolation), popular_packages([one.path for one in class_.values()]))
    contents = {name: one.packed(name).digest for name, one in class_.items()}
    work = work_of(asked, contents, own, setting)
    with open_or_refuse(gradebook or str(grades / "gradebook.sqlite")) as book:
        work = work if paths else kept_work(work, book)
        taken, seed = book.finished(work), seed_of(book, asked.name)
        if not paths:
            _demand(work.contents.keys() - taken.keys())
        tasks = (
            Task(
                one.packed(name),
                name,
                asked,
                seed,
                own,
                setting,
                command=again(one.words(name), asked, seed, checks),
            )
            for name, one in class_.items()
            if name not in taken
        )
        try:
            graded = graded_anew(tasks, chosen("local", None, jobs))
            fresh = {name: one for name, one in graded.items() if not one.unjudged}
            found = list(changes(work, asked, book, fresh))
            _say(found, graded.keys() - fresh.keys())
            if preview or not any(one.changes for one in found):
                click.echo("Nothing was written.")
                return
            if not yes:
                click.confirm("Write this?", abort=True)
            written_anew(work, asked, grades, book, fresh, seed)
        except (EngineError, GradebookError, OSError) as error:
            click.echo(error, err=True)
            sys.exit(exits.HARNESS)
    click.echo(f"{grades / 'index.html'} shows all of them")


def _demand(missing: Collection[str]) -> None:
    """What is kept has to be enough where no submissions are given."""
    if missing:
        raise click.UsageError(
            f"{len(missing)} of the class have to be graded anew, since more than points, titles, texts and"
            " visibility changed, or the version of vitcheck: name what `vitcheck grade` was given as PATH"
        )


def _say(found: Sequence[Change], lost: Collection[str]) -> None:
    """A line for each that would change, and how many there are."""
    from vitcheck.gradebook_text import change_line
    from vitcheck.reports.words.text import NAME_LIMIT, one_line

    changed = [one for one in found if one.changes]
    for one in changed:
        click.echo(change_line(one))
    for name in sorted(lost):
        click.echo(f"not graded: {one_line(name, NAME_LIMIT)}: the grader itself failed", err=True)
    others = len(found) - len(changed)
    click.echo(f"{len(changed)} would change, {others} would not")
