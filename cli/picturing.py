"""``vitcheck snapshot`` and ``vitcheck trace``: a picture's way through the reference, or through a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import OUTPUT, PATH, SEEDS, assignment_option, existing, guarded, load
from vitcheck.submissions.launching import elsewhere

if TYPE_CHECKING:
    from vitcheck.checks.record.snapshot import Snapshot

_image = click.option(
    "--image", type=PATH, required=True, callback=existing, help="The picture, such as cat.jpg."
)
_json = click.option("--json", type=OUTPUT, help="Write the numbers there, as data.")


@click.command()
@_image
@assignment_option
@click.option("--out", type=OUTPUT, default="snapshot.html", show_default=True, help="Write the page there.")
@_json
@click.option("--seed", type=SEEDS, default=0, show_default=True, help="Weights are drawn from it.")
def snapshot(image: Path, assignment: str, out: Path, json: Path | None, seed: int) -> None:
    """Write the answer key: a picture at every stage of the reference.

    All stages stand there at the assignment's full size, with shapes and values. Weights are random.
    """
    with guarded(), _refusing():
        with elsewhere():
            from vitcheck.checks.examining.passes.pictures import read_picture
            from vitcheck.checks.tools.snapshots import answer_key

        found = answer_key(read_picture(image), load(assignment), seed=seed)
    _write(found, out, json)
    click.echo(f"{out} shows {image.name} at all {len(found.stages)} stages")


@click.command()
@click.argument("file", type=PATH, callback=existing)
@_image
@assignment_option
@click.option("--html", type=OUTPUT, help="Write the page there, in the place of a table here.")
@_json
@click.option(
    "--seed", type=SEEDS, default=0, show_default=True, help="Sizes, weights and images are drawn from it."
)
def trace(file: Path, image: Path, assignment: str, html: Path | None, json: Path | None, seed: int) -> None:
    """Show a picture at every stage of the code in FILE.

    Stages are found and judged as vitcheck check does it; shapes and values are those of the picture.
    """
    with guarded(), _refusing():
        with elsewhere():
            from vitcheck.checks.examining.passes.pictures import read_picture
            from vitcheck.checks.tools.snapshots import trace as traced
        from vitcheck.warm import WarmGrader

        picture = read_picture(image)
        with WarmGrader() as grader:
            found = traced(file.resolve(), picture, load(assignment), judge=grader.grade, seed=seed)
    _write(found, html, json)
    if html:
        from vitcheck.reports.text import one_line

        click.echo(f"{html} shows {image.name} at the stages of {one_line(file.name)}")
    else:
        _print(found)
    sys.exit(exits.WRONG if _is_wrong(found) else exits.FINE)


@contextmanager
def _refusing() -> Iterator[None]:
    """Say of a picture that cannot be used why, and what to do."""
    from vitcheck.checks.examining.passes.pictures import PictureError

    try:
        yield
    except PictureError as error:
        raise click.UsageError(str(error)) from None


def _write(snapshot: Snapshot, html: Path | None, json: Path | None) -> None:
    from vitcheck.reports import render_snapshot, write_whole

    if html:
        write_whole(html, render_snapshot(snapshot).encode())
    if json:
        write_whole(json, snapshot.to_json().encode())


def _print(snapshot: Snapshot) -> None:
    from rich.console import Console

    from vitcheck.reports import snapshot_table

    Console(highlight=False).print(snapshot_table(snapshot))


def _is_wrong(snapshot: Snapshot) -> bool:
    from vitcheck.reports.standing import pass_findings

    return any(pass_findings(snapshot))
