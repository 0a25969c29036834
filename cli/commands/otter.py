"""``vitcheck otter``: a test file for Otter-Grader."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck.options import assignment_option, load

if TYPE_CHECKING:
    from vitcheck.checks.assignment.assignment import Assignment

_FILE = """\
# Written by vitcheck: what Otter runs. Each case is a part of the assignment, and earns its points or none.
import os
import sys

from otter.test_files import test_case

beside = sys.path[:]  # no vitcheck.py that lies beside the notebook is taken for the grader
sys.path[:] = [one for one in beside if os.path.abspath(one) != os.getcwd()]
from vitcheck.apart import require

sys.path[:] = beside

OK_FORMAT = False

name = {name!r}
"""
_CASE = """

@test_case(name={title!r}, points={points!r})
def {function}(env):
    require({part!r}, {file!r}, assignment={assignment!r})
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
    """Write a test file for Otter-Grader, with a case for each stage or part.

    FILE is what students hand in, by the name that it has where Otter grades it, such as hw3.ipynb.
    """
    from vitcheck.reports.writer import write_whole

    asked = load(assignment)
    cases = [
        _CASE.format(
            title=title, points=points, function=f"test_{number}", part=part, file=file, assignment=assignment
        )
        for number, (part, title, points) in enumerate(_parts(asked), 1)
    ]
    write_whole(out, (_FILE.format(name=out.stem) + "".join(cases)).encode())
    click.echo(f"{out} has {len(cases)} cases, worth {asked.possible:g} points")


def _parts(asked: Assignment) -> Iterator[tuple[str, str, float]]:
    """Each part, its title, and its points: stages share those of the model evenly."""
    from vitcheck.reference.components import COMPONENTS
    from vitcheck.reference.exercises import EXERCISES
    from vitcheck.reference.stages import STAGES

    model = [(one.label, f"{one.label} {one.title}") for one in STAGES] + [("model", "the model as a whole")]
    for part, title in model if asked.architectures else []:
        yield part, title, asked.points.possible / len(model)
    for key, component in asked.components.items():
        yield f"component[{key}]", COMPONENTS[key].title, component.points
    for key, exercise in asked.exercises.items():
        yield f"exercise[{key}]", EXERCISES[key].title, exercise.points
