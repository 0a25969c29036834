"""``vitcheck export``: results and grades for other systems."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from vitcheck.gradebook_entries import all_of_one
from vitcheck.options import PATH, existing, gradebook_option, open_or_refuse, refusing
from vitcheck.pseudonyms import names_in, pseudonyms_option, real

# named here, so that the help loads no format; a test compares them
OF_ONE = (
    *("github-annotations", "github-summary", "github-outputs"),
    *("gitlab-code-quality", "junit", "classroom50", "gradescope"),
)
OF_A_CLASS = ("canvas", "moodle", "blackboard", "sakai")


@click.command()
@click.argument("source", type=PATH, callback=existing)
@click.option("--to", "system", type=click.Choice([*OF_ONE, *OF_A_CLASS]), required=True, help="The format.")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), help="A file.  [default: the terminal]"
)
@click.option(
    "--graded",
    type=PATH,
    callback=existing,
    help="Of one result: the file or folder in this repository that was graded, so that lines are found.",
)
@click.option(
    "--roster", type=PATH, callback=existing, help="Of a class: the table that was downloaded from there."
)
@click.option("--column", metavar="NAME", help="Of a class: the assignment there.  [default: as it is here]")
@click.option("--assignment", metavar="NAME", help="Of a class: if the gradebook has several, one of them.")
@click.option(
    "--out-of",
    type=click.FloatRange(min=0, min_open=True),
    metavar="N",
    help="Of a class: what the assignment is worth there, such as 20. All points are scaled to it.",
)
@pseudonyms_option
@gradebook_option("SOURCE/gradebook.sqlite")
def export(source: Path, system: str, out: Path | None, graded: Path | None, **of_class: Any) -> None:
    """Write one result, or the grades of a class, in the format of another system.

    SOURCE is a result.json; for Canvas, Moodle, Blackboard and Sakai it is the folder that `vitcheck grade`
    wrote. Students are found in the roster by what their submissions are called: who is not found is listed.
    """
    content = (
        _of_class(source, system, **of_class) if system in OF_A_CLASS else _of_one(source, system, graded)
    )
    if out is None:
        click.echo(content, nl=False)
    else:
        from vitcheck.reports.writer import write_whole

        write_whole(out, content)


def _of_one(source: Path, system: str, graded: Path | None) -> bytes:
    from pydantic import ValidationError

    from vitcheck.checks.record.result import Result
    from vitcheck.reports.formats import FORMATS
    from vitcheck.reports.formats.repository import Repository

    if source.is_dir():
        raise click.UsageError(
            f"{system} is of one result: name a result.json, such as {source}/NAME/result.json"
        )
    try:
        result = Result.from_json(source.read_bytes())
    except ValidationError:
        raise click.UsageError(f"{source} is not a result.json of this version of vitcheck") from None
    return FORMATS[system](result, Repository(_folder(graded) if graded else ".")).encode()


def _folder(graded: Path) -> str:
    """Relative, as repositories have it, if this is run at the top of one."""
    from vitcheck.submissions.reading.source import code_folder

    return Path(os.path.relpath(code_folder(graded))).as_posix()


def _of_class(
    source: Path,
    system: str,
    roster: Path | None,
    column: str | None,
    assignment: str | None,
    gradebook: str | None,
    out_of: float | None,
    pseudonyms: Path | None,
) -> bytes:
    from vitcheck.reports.formats.lms import Grade, grade_file
    from vitcheck.reports.formats.rosters import RosterError, read_roster
    from vitcheck.reports.words.remarks import remark
    from vitcheck.reports.words.text import one_line

    with open_or_refuse(gradebook or str(source / "gradebook.sqlite")) as book:
        entries = all_of_one(book, assignment)
    last = entries[-1].attempt
    names = names_in(pseudonyms) if pseudonyms else {}
    share = 1.0 if out_of is None else out_of / last.possible
    grades = [
        Grade(real(names, one.attempt.submission), round(one.total * share, 2), remark(one.adjustment))
        for one in entries
    ]
    with refusing(RosterError):
        students = read_roster(roster.read_bytes()) if roster else None
        made = grade_file(system, grades, column or last.run.assignment, last.possible * share, students)
    for name, why in made.left_out:
        click.echo(one_line(f"left out: {name}: {why}"), err=True)
    return made.content
