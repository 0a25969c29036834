"""Where submissions are graded: the options of commands that grade many."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from vitcheck.options import refusing

if TYPE_CHECKING:
    from vitcheck.checks.classes.engines import Engine

engine_option = click.option(
    "--engine",
    "kind",
    type=click.Choice(["local", "dask"]),
    default="local",
    show_default=True,
    help="Grade on this machine, or on the workers of a Dask cluster.",
)
scheduler_option = click.option(
    "--scheduler", metavar="ADDRESS", help="The scheduler of that cluster, such as tcp://10.0.0.7:8786."
)
jobs_option = click.option(
    "--jobs", type=click.IntRange(min=1), help="Submissions at a time on this machine.  [default: one a core]"
)


def chosen(kind: str, scheduler: str | None, jobs: int | None) -> Engine:
    """Return the engine that the options ask for."""
    if kind == "local":
        if scheduler is not None:
            raise click.UsageError("--scheduler is for a cluster: add --engine dask")
        from vitcheck.checks.classes.engines.local import Local

        return Local(jobs or os.cpu_count() or 1)
    if scheduler is None:
        raise click.UsageError("--engine dask needs --scheduler ADDRESS, such as tcp://10.0.0.7:8786")
    if jobs is not None:
        raise click.UsageError("--jobs is for --engine local: a cluster does as many as it has workers")
    return _dask(scheduler)


def _dask(scheduler: str) -> Engine:
    from vitcheck.checks.classes.engines import EngineError

    with refusing(EngineError):  # it is not installed
        from vitcheck.checks.classes.engines.dask import Dask
    return Dask(scheduler)
