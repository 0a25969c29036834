"""``vitcheck dispute`` and ``vitcheck replay``: one file to settle what a submission gets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.handed_in import handed_in
from vitcheck.options import (
    OUTPUT,
    PATH,
    assignment_option,
    checks_option,
    existing,
    gradebook_option,
    guarded,
    isolation_option,
    load,
    open_or_refuse,
    refusing,
    sandbox_or_refuse,
)
from vitcheck.pseudonyms import pseudonyms_option

if TYPE_CHECKING:
    from vitcheck.checks.record.result import Result


@click.command()
@click.argument("grades", metavar="GRADES", type=PATH, callback=existing)
@click.argument("name")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=PATH, callback=existing)
@assignment_option
@checks_option
@pseudonyms_option
@click.option("--out", type=OUTPUT, help="The file.  [default: NAME-dispute.zip]")
@gradebook_option("GRADES/gradebook.sqlite")
def dispute(
    grades: Path,
    name: str,
    paths: tuple[Path, ...],
    assignment: str,
    checks: Path | None,
    pseudonyms: Path | None,
    out: Path | None,
    gradebook: str | None,
) -> None:
    """Put all that graded the submission NAME of the class in GRADES into one file.

    PATH is what `vitcheck grade` was given. The file holds what was handed in, the assignment, the seed, the
    versions and the result; `vitcheck replay` grades it again, on any machine. It is for instructors.
    """
    from vitcheck.checks.assignment.assignment import assignment_text
    from vitcheck.checks.classes.many import work_of
    from vitcheck.checks.classes.tasks import Setting
    from vitcheck.checks.tools.dispute import Dispute, DisputeError, write_dispute
    from vitcheck.gradebook_entries import one_called, some
    from vitcheck.submissions.reading.packing import pack_folder

    asked, own = load(assignment), pack_folder(checks) if checks else None
    with open_or_refuse(gradebook or str(grades / "gradebook.sqlite")) as book:
        attempt = one_called(some(book, asked.name), name).attempt
        result = book.result(attempt.id)
    class_ = handed_in(paths, grades, pseudonyms)
    if name not in class_:
        raise click.BadParameter(f"there is no submission {name} at the PATHs", param_hint="PATH")
    handed = class_[name].packed(name)
    if handed.digest != attempt.content_digest:
        raise click.UsageError(f"{name} is another file than the one that was graded: grade it anew")
    if work_of(asked, {}, own, Setting()).assignment_digest != attempt.run.assignment_digest:
        raise click.UsageError(
            f"{name} was graded by another version of the assignment or other --checks: name those, or grade"
            " it anew"
        )
    place = out or Path(f"{name}-dispute.zip")
    with refusing(DisputeError, OSError):
        write_dispute(Dispute(handed, assignment_text(assignment), asked.known_as, own, result), place)
    click.echo(f"{place} holds all that graded {name}: `vitcheck replay {place}` does it again")


@click.command()
@click.argument("file", type=PATH, callback=existing)
@isolation_option("auto")
def replay(file: Path, isolation: str) -> None:
    """Grade what is in FILE, as `vitcheck dispute` wrote it, and say whether the same comes of it.

    The exit code is 0 if it does, and 1 if not.
    """
    from vitcheck.checks.assignment.assignment import AssignmentError
    from vitcheck.checks.classes.tasks import Setting
    from vitcheck.checks.tools.dispute import DisputeError, differences, read_dispute
    from vitcheck.submissions.errors import SubmissionError
    from vitcheck.submissions.sandbox.isolation import Isolation
    from vitcheck.warm import WarmGrader

    sandbox_or_refuse(isolation)
    with refusing(DisputeError, AssignmentError, SubmissionError):
        found = read_dispute(file)
        task = found.task(Setting(Isolation(isolation)))
    with guarded(), WarmGrader() as grader:
        result = grader.grade(task)
    _say_versions(found.result, result)
    different = differences(found.result, result)
    for line in different:
        click.echo(line)
    score = f"{result.score.earned:g} of {result.score.possible:g}"
    click.echo("Something else came of it." if different else f"The same came of it: {score} points.")
    sys.exit(exits.WRONG if different else exits.FINE)


def _say_versions(there: Result, here: Result) -> None:
    names = dict.fromkeys([*there.run.versions, *here.run.versions])
    for name in names:
        one, other = there.run.versions.get(name, "none"), here.run.versions.get(name, "none")
        if one != other:
            click.echo(f"{name} {one} there, {other} here")
