"""``vitcheck check``: one submission, in the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import (
    OUTPUT,
    PATH,
    checks_option,
    did_you_mean,
    existing,
    guarded,
    isolation_option,
    load_for,
    own_assignment_option,
    sandbox_or_refuse,
    seed_option,
)
from vitcheck.pseudonyms import pseudonyms_option

if TYPE_CHECKING:
    from vitcheck.checks.assignment.assignment import Assignment
    from vitcheck.checks.classes.tasks import Task
    from vitcheck.checks.record.result import Result


def _key(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    from vitcheck.checks.architecture.family import stage_of_any

    try:
        return stage_of_any(value).key if value is not None else None
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@click.argument("file", type=PATH, callback=existing)
@own_assignment_option
@click.option(
    "--submission", metavar="NAME", help="Of a class in FILE, the one that `vitcheck grade` calls so."
)
@pseudonyms_option
@click.option("--stage", "key", metavar="STAGE", callback=_key, help="Show this stage alone, such as S12.")
@click.option("--html", type=OUTPUT, help="Write the report there.")
@click.option("--json", type=OUTPUT, help="Write the result there, as data.")
@seed_option("Sizes, weights and images")
@checks_option
@click.option(
    "--for-students",
    is_flag=True,
    help="Show and write no more than students may see, as an assignment made for them does by itself.",
)
@isolation_option("none")
@click.option(
    "--watch",
    is_flag=True,
    help="Check again at every save, until Ctrl-C, which exits with 0; a report refreshes itself meanwhile.",
)
def check(
    file: Path,
    assignment: str | None,
    submission: str | None,
    pseudonyms: Path | None,
    key: str | None,
    html: Path | None,
    json: Path | None,
    seed: int,
    checks: Path | None,
    for_students: bool,
    isolation: str,
    watch: bool,
) -> None:
    """Check one FILE, and say what is wrong first, and where.

    It may be a notebook, a folder or an archive as well.
    """
    from vitcheck.checks.classes.tasks import own_work
    from vitcheck.submissions.sandbox.isolation import Isolation

    sandbox_or_refuse(isolation)  # refuses what this machine has not
    asked = load_for(file, assignment)
    if for_students:
        asked = asked.model_copy(update={"for_students": True})
    if submission is not None:
        task = _of_class(file, submission, pseudonyms, asked, seed, checks, isolation)
    else:
        task = own_work(file, asked, seed, checks=checks, isolation=Isolation(isolation))
    if watch:
        from vitcheck.commands.watching import watch_and_check
        from vitcheck.outputs import CheckOutput

        watch_and_check(file, task, CheckOutput(key, html, json))
        sys.exit(exits.FINE)
    result = _graded(task)
    from vitcheck.outputs import CheckOutput

    output = CheckOutput(key, html, json)
    output.write(result)
    output.print(result)
    sys.exit(exits.WRONG if output.is_wrong(result) else exits.FINE)


def _of_class(
    file: Path,
    name: str,
    pseudonyms: Path | None,
    asked: Assignment,
    seed: int,
    checks: Path | None,
    isolation: str,
) -> Task:
    """To grade one of those that are handed in at FILE."""
    from vitcheck.checks.assignment.commands import again
    from vitcheck.checks.classes.tasks import Setting, Task
    from vitcheck.handed_in import handed_in
    from vitcheck.submissions.reading.packing import pack_folder
    from vitcheck.submissions.sandbox.isolation import Isolation

    class_ = handed_in([file], Path("grades"), pseudonyms)
    if name not in class_:
        near = did_you_mean(name, list(class_))
        raise click.BadParameter(f"there is no submission {name} in {file}{near}", param_hint="--submission")
    own, one = pack_folder(checks) if checks else None, class_[name]
    command = again(one.words(name), asked, seed, checks)
    setting = Setting(Isolation(isolation))
    return Task(one.packed(name), name, asked, seed, own, setting, command=command)


def _graded(task: Task) -> Result:
    from vitcheck.checks.classes.engines.worker_process import ForkedWorker
    from vitcheck.warm import WarmGrader

    with guarded(), WarmGrader(ForkedWorker) as grader:
        return grader.grade(task)
