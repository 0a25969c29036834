"""``vitcheck check --watch``: a submission is graded again at every save."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.record.result import Result
from vitcheck.outputs import CheckOutput
from vitcheck.reports.words.quoting import fault, named_line
from vitcheck.reports.words.text import one_line
from vitcheck.saves import saves
from vitcheck.warm import WarmGrader

_REFRESH_SECONDS = 1


def watch_and_check(file: Path, task: Task, output: CheckOutput) -> None:
    """Give ``output`` the result of each save of ``file``, graded as ``task`` is, until Ctrl-C."""
    last: Result | None = None
    name = named_line(one_line(file.name))
    with suppress(KeyboardInterrupt), WarmGrader() as grader:
        for handed in saves(file):
            if handed is None:
                _say(f"{name} is gone, and is graded again when it is back")
                continue
            _say(f"grading {name} …")
            try:
                last = grader.grade(replace(task, handed=handed))
            except RuntimeError:
                click.echo(fault(), err=True)
                continue
            output.write(last, refresh_seconds=_REFRESH_SECONDS)
            Console().clear()  # a terminal; elsewhere it does nothing
            output.print(last)
            _say(f"watching {name}: it is graded again at every save, until Ctrl-C")
    if last is not None:
        output.write(last)


def _say(text: str) -> None:
    Console(highlight=False).print(Text(f"\n{text}", style="dim"))
