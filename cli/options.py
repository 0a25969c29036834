"""What several commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from vitcheck.checks.assignment import Assignment
    from vitcheck.checks.gradebook.store import Gradebook

Command = TypeVar("Command", bound=Callable[..., Any])  # as click decorates it

SEEDS = click.IntRange(0, 2**31 - 1)
PATH = click.Path(path_type=Path)


def existing(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse paths that are not there, as the callback of a parameter that is one path or several."""
    for path in value if isinstance(value, tuple) else [value]:
        if path is not None:
            refuse_missing(path)
    return value


def refuse_missing(path: Path) -> None:
    """Raise click.BadParameter where nothing is at ``path``."""
    if not path.exists():
        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        raise click.BadParameter(f"there is no file or folder {path}{did_you_mean(path.name, beside)}")


def load(name: str) -> Assignment:
    """Load the assignment that ``assignment_option`` names."""
    from vitcheck.checks.assignment import AssignmentError, load_assignment

    try:
        return load_assignment(name)
    except AssignmentError as error:
        raise click.BadParameter(str(error), param_hint="--assignment") from None


assignment_option = click.option(
    "--assignment",
    metavar="NAME|FILE",
    default="vit-debugging",
    show_default=True,
    help="What is asked for: an assignment that ships, or a TOML file.",
)


def gradebook_option(default: str) -> Callable[[Command], Command]:
    """Where the gradebook is; ``default`` is for the help."""
    return click.option(
        "--gradebook",
        metavar="FILE|URL",
        help=f"An SQLite file, or postgresql://user@host/database.  [default: {default}]",
    )


def open_or_refuse(place: str, *, create: bool = False) -> Gradebook:
    """Open the gradebook that ``gradebook_option`` names."""
    from vitcheck.checks.gradebook.errors import GradebookError
    from vitcheck.checks.gradebook.opening import open_gradebook

    try:
        return open_gradebook(place, create=create)
    except GradebookError as error:
        raise click.BadParameter(str(error), param_hint="--gradebook") from None


def did_you_mean(name: str, known: list[str]) -> str:
    """The end of a message: what is near, if anything is."""
    near = get_close_matches(name, known)
    return f"; did you mean {' or '.join(near)}?" if near else ""
