"""``vitcheck otter``: a test file for Otter-Grader."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck.options import assignment_option, load

if TYPE_CHECKING:
    from vitcheck.checks.assignment.assignment import Assignment

_FILE = """\
# Written by vitcheck: what Otter runs. The file is graded, and each part of it is a case with its points.
import os
import sys

from otter.test_files import test_case

beside = sys.path[:]  # no vitcheck.py that lies beside the notebook is taken for the grader
sys.path[:] = [one for one in beside if os.path.abspath(one) != os.getcwd()]
from vitcheck.apart import cases

sys.path[:] = beside

OK_FORMAT = False

name = {name!r}


def _asked(case):
    def run(env):
        case.require()

    return test_case(name=case.name, points=case.points, hidden=case.hidden)(run)


found = cases({file!r}, assignment={assignment!r})
globals().update({{f"test_{{number}}": _asked(one) for number, one in enumerate(found, 1)}})
"""


@click.command()
@click.argument("file")
@assignment_option
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The test file, such as tests/vit.py.",
)
def otter(file: str, assignment: str, out: Path) -> None:
    """Write a test file for Otter-Grader, which makes a case of each stage or part that has points.

    FILE is what students hand in, by the name that it has where Otter grades it, such as hw3.ipynb.
    """
    from vitcheck.reports.writer import write_whole

    asked = load(assignment)
    write_whole(out, _FILE.format(name=out.stem, file=file, assignment=assignment).encode())
    checks = asked.possible - asked.possible_by_hand
    click.echo(f"{out} gives the points of {asked.name}: {checks:g}{_by_hand(asked)}")


def _by_hand(asked: Assignment) -> str:
    by_hand = asked.possible_by_hand
    return f", and {by_hand:g} more are for answers in writing, which you mark" if by_hand else ""
