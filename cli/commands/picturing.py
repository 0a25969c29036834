"""``vitcheck snapshot`` and ``vitcheck trace``: a picture's way through the reference, or through a file."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck import exits
from vitcheck.options import (
    OUTPUT,
    PATH,
    assignment_option,
    existing,
    guarded,
    load,
    load_for,
    own_assignment_option,
    refusing,
    seed_option,
)
from vitcheck.submissions.launching import elsewhere

if TYPE_CHECKING:
    from vitcheck.checks.assignment.assignment import Assignment
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
@seed_option("Weights")
def snapshot(image: Path, assignment: str, out: Path, json: Path | None, seed: int) -> None:
    """Write the answer key: a picture at every stage of the reference.

    All stages stand there at the assignment's full size, with shapes and values. Weights are random.
    """
    from vitcheck.checks.examining.passes.pictures import PictureError, read_picture

    with guarded(), refusing(PictureError):
        with elsewhere():
            from vitcheck.checks.tools.snapshots import answer_key

        asked = load(assignment)
        found = answer_key(read_picture(image), asked, seed=seed)
    found = _repeated(found, "snapshot", ["--image", str(image)], asked, seed)
    _write(found, out, json)
    click.echo(f"{out} shows {image.name} at all {len(found.stages)} stages")


@click.command()
@click.argument("file", type=PATH, callback=existing)
@_image
@own_assignment_option
@click.option("--html", type=OUTPUT, help="Write the page there, in the place of a table here.")
@_json
@seed_option("Sizes, weights and images")
def trace(
    file: Path, image: Path, assignment: str | None, html: Path | None, json: Path | None, seed: int
) -> None:
    """Show a picture at every stage of the code in FILE.

    Stages are found and judged as vitcheck check does it; shapes and values are those of the picture.
    """
    from vitcheck.checks.examining.passes.pictures import PictureError, read_picture

    with guarded(), refusing(PictureError):
        with elsewhere():
            from vitcheck.checks.tools.snapshots import trace as traced
        from vitcheck.warm import WarmGrader

        picture = read_picture(image)
        with WarmGrader() as grader:
            asked = load_for(file, assignment)
            found = traced(file.resolve(), picture, asked, judge=grader.grade, seed=seed)
    found = _repeated(found, "trace", [str(file), "--image", str(image)], asked, seed)
    _write(found, html, json)
    if html:
        from vitcheck.reports.words.text import one_line

        click.echo(f"{html} shows {image.name} at the stages of {one_line(file.name)}")
    else:
        _print(found)
    sys.exit(exits.WRONG if _is_wrong(found) else exits.FINE)


def _repeated(snapshot: Snapshot, name: str, words: Sequence[str], asked: Assignment, seed: int) -> Snapshot:
    """With the command that gives it again, for a shell that is here."""
    options = ["--assignment", asked.asked_for, "--seed", str(seed)]
    command = shlex.join(["vitcheck", name, *words, *options])
    return snapshot.model_copy(update={"run": snapshot.run.model_copy(update={"command": command})})


def _write(snapshot: Snapshot, html: Path | None, json: Path | None) -> None:
    from vitcheck.reports.pages.html import render_snapshot
    from vitcheck.reports.writer import write_whole

    if html:
        write_whole(html, render_snapshot(snapshot).encode())
    if json:
        write_whole(json, snapshot.to_json().encode())


def _print(snapshot: Snapshot) -> None:
    from rich.console import Console

    from vitcheck.reports.snapshot_table import snapshot_table

    Console(highlight=False).print(snapshot_table(snapshot))


def _is_wrong(snapshot: Snapshot) -> bool:
    from vitcheck.reports.words.standing import pass_findings

    return any(pass_findings(snapshot))
