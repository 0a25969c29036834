"""``vitcheck init``: a course of one's own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from vitcheck.checks.tools.course.starting import Wishes

_START = "vit-debugging"


class _ImageSize(click.ParamType[tuple[int, int]]):
    """``32`` or ``32x48``, height first."""

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        found = re.fullmatch(r"([1-9]\d*)(?:x([1-9]\d*))?", str(value))
        if not found:
            self.fail(f"{value!r} is not an image size such as 32, or 32x48 for height and width", param, ctx)
        return int(found[1]), int(found[2] or found[1])


_IMAGE_SIZE = _ImageSize()
_CLASSES = click.IntRange(min=1)


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--name", help="Of the assignment.  [default: that of the folder, or of the FILE to start from]"
)
@click.option("--start", metavar="NAME|FILE", help=f"The assignment to start from.  [default: {_START}]")
@click.option("--title", help="What students read.  [default: that of the assignment to start from]")
@click.option("--stages", metavar="S01-S08", help="Ask for these alone, as one week of several on one file.")
@click.option("--preset", metavar="SIZE", help="A named size of the model, such as B/16 or S/8.")
@click.option("--image-size", "image", type=_IMAGE_SIZE, metavar="N|HxW", help="Pixels, such as 32 or 32x48.")
@click.option("--classes", type=_CLASSES, help="How many there are.")
@click.option("--yes", is_flag=True, help="Ask nothing: what is not said here is as it is by default.")
@click.option("--force", is_flag=True, help="Write over files that are there.")
def init(folder: Path, yes: bool, force: bool, **given: Any) -> None:
    """Start an assignment in the folder DIR.

    Writes the assignment, a handout for students with a skeleton to fill in, a workflow that checks each
    push on GitHub, and a place for the solution. Where input is no terminal, nothing is asked either.
    """
    from vitcheck.checks.assignment.assignment import AssignmentError
    from vitcheck.checks.tools.course.starting import course_files, write_files

    ask = not yes and sys.stdin.isatty()
    try:
        files = course_files(_wishes(folder, ask, **given))
        write_files(files, folder, force=force)
    except AssignmentError as error:
        raise click.UsageError(f"that would not be a valid assignment: {error}") from None
    except FileExistsError as error:
        raise click.UsageError(f"{error}: there already; --force writes over them") from None
    except OSError as error:
        raise click.UsageError(f"{folder} cannot be written to: {error}") from None
    click.echo("\n".join(f"wrote {folder / name}" for name in files))
    click.echo(f"\nNext: {folder / 'README.md'} says what to do with them.")


def _wishes(
    folder: Path,
    ask: bool,
    name: str | None,
    start: str | None,
    title: str | None,
    stages: str | None,
    **sizes: Any,
) -> Wishes:
    """What the options say; the rest is asked for, or by default."""
    from vitcheck.checks.assignment.assignment import assignment_names, load_assignment
    from vitcheck.checks.tools.course.starting import Wishes

    def answer(given: str | None, question: str, default: str) -> str:
        return given or (click.prompt(question, default=default) if ask else default)

    start = answer(start, f"Start from {', '.join(assignment_names())}, or a file", _START)
    old = load_assignment(start)
    name = answer(name, "Name", folder.resolve().name if start in assignment_names() else old.name)
    title = answer(title, "Title", old.title)
    if ask and not any(sizes.values()) and click.confirm("Other sizes than it has?", default=False):
        sizes = _asked_sizes()
    return Wishes(name, start, title, stages, **sizes)


def _asked_sizes() -> dict[str, Any]:
    """An empty answer leaves a size as it is."""
    return {
        "preset": _asked("Named size of the model, such as B/16", click.STRING),
        "image": _asked("Image size in pixels, such as 32 or 32x48", _IMAGE_SIZE),
        "classes": _asked("Classes", _CLASSES),
    }


def _asked(question: str, kind: click.ParamType[Any]) -> Any:
    def value(text: str) -> Any:
        return kind.convert(text, None, None) if text else None

    return click.prompt(f"{question} (empty: as it is)", default="", show_default=False, value_proc=value)
