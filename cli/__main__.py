"""The command line. Help and listings load neither torch nor the checks."""

from __future__ import annotations

from typing import Any

import click

from vitcheck import __version__
from vitcheck.commands.check import check
from vitcheck.commands.dispute import dispute, replay
from vitcheck.commands.export import export
from vitcheck.commands.grade import grade
from vitcheck.commands.gradebook import gradebook
from vitcheck.commands.gradescope import gradescope
from vitcheck.commands.handout import handout
from vitcheck.commands.init import init
from vitcheck.commands.late import late
from vitcheck.commands.looking_up import explain, mistakes, stages, variants
from vitcheck.commands.otter import otter
from vitcheck.commands.picturing import snapshot, trace
from vitcheck.commands.regrade import regrade
from vitcheck.commands.release import release
from vitcheck.commands.selftest import selftest
from vitcheck.commands.similar import similar
from vitcheck.commands.validate import validate
from vitcheck.exits import HELP
from vitcheck.options import guarded


class _Commands(click.Group):
    """Whatever else goes wrong in a command has an exit code of its own."""

    def invoke(self, ctx: click.Context) -> Any:
        with guarded():
            return super().invoke(ctx)


@click.group(cls=_Commands, epilog=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="vitcheck")
def main() -> None:
    """Grade Vision Transformer assignments, stage by stage."""


for command in (
    *(
        grade,
        check,
        trace,
        snapshot,
        gradebook,
        late,
        regrade,
        dispute,
        replay,
        release,
        export,
        gradescope,
        otter,
    ),
    *(similar, stages, mistakes, variants, explain, init, handout, validate, selftest),
):
    main.add_command(command)

if __name__ == "__main__":
    main(prog_name="vitcheck")
