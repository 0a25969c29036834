"""The command line. Help and listings load neither torch nor the checks."""

from __future__ import annotations

import click

from vitcheck import __version__
from vitcheck.checking import check
from vitcheck.exits import HELP
from vitcheck.exporting import export
from vitcheck.gradebook import gradebook
from vitcheck.gradescope import gradescope
from vitcheck.grading import grade
from vitcheck.looking_up import explain, stages
from vitcheck.measuring import selftest
from vitcheck.otter import otter
from vitcheck.picturing import snapshot, trace
from vitcheck.similar import similar
from vitcheck.starting import init
from vitcheck.validating import validate


@click.group(epilog=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vitcheck")
def main() -> None:
    """Grade Vision Transformer assignments, stage by stage."""


for command in (
    *(grade, check, trace, snapshot, gradebook, export, gradescope, otter),
    *(similar, stages, explain, init, validate, selftest),
):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="vitcheck")
