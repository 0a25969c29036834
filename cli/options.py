"""What several commands have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from vitcheck import exits
from vitcheck.checks.assignment.default_assignment import DEFAULT, FILE, assignment_for

if TYPE_CHECKING:
    from vitcheck.checks.assignment.assignment import Assignment
    from vitcheck.checks.classes.gradebook.store import Gradebook
    from vitcheck.submissions.sandbox.isolation import Sandbox

Command = TypeVar("Command", bound=Callable[..., Any])  # as click decorates it

SEEDS = click.IntRange(0, 2**31 - 1)
PATH = click.Path(path_type=Path)
OUTPUT = click.Path(dir_okay=False, writable=True, path_type=Path)


def existing(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Refuse paths that are not there, as the callback of a parameter that is one path or several."""
    for path in value if isinstance(value, tuple) else [value]:
        try:
            demand(path)
        except FileNotFoundError as error:
            raise click.BadParameter(str(error)) from None
    return value


def demand(path: Path | None) -> None:
    """Raises FileNotFoundError, with what is near, for a path where nothing is."""
    if path is not None and not path.exists():
        from vitcheck.reports.words.text import one_line

        beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
        near = did_you_mean(path.name, beside)
        raise FileNotFoundError(f"there is no file or folder {one_line(str(path))}{near}")


def submissions_in(paths: Iterable[Path], out: Path) -> list[Path]:
    """List the submissions at ``paths``; our own reports in ``out`` are none.

    Raises ValueError where there are no others, and FileNotFoundError.
    """
    from vitcheck.submissions.reading.source import find_submissions

    paths = list(paths)
    ours = out.resolve()
    found = [one for one in find_submissions(paths) if one.is_symlink() or one.resolve() != ours]
    if not found:
        raise ValueError(f"no folder, .py, .ipynb or archive inside {', '.join(map(str, paths))}")
    return found


@contextmanager
def refusing(*errors: type[Exception], parameter: str | None = None) -> Iterator[None]:
    """What is wrong is said as of the command line, or of one ``parameter`` of it."""
    try:
        yield
    except errors as error:
        if parameter is None:
            raise click.UsageError(str(error)) from None
        raise click.BadParameter(str(error), param_hint=parameter) from None


@contextmanager
def guarded() -> Iterator[None]:
    """Around work with a submission: a fault of the grader, or an interrupt, ends with its own exit code."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, click.Abort):  # of the command line, and no fault
        raise
    except KeyboardInterrupt:
        sys.exit(exits.INTERRUPTED)
    except BrokenPipeError:  # whoever reads what is printed has had enough
        raise
    except Exception:
        from vitcheck.reports.words.quoting import fault

        click.echo(fault(), err=True)
        click.echo("The grader itself failed, which says nothing of the work", err=True)
        sys.exit(exits.HARNESS)


def load(name: str) -> Assignment:
    """Load the assignment that ``assignment_option`` names."""
    from vitcheck.checks.assignment.assignment import AssignmentError, load_assignment

    with refusing(AssignmentError, parameter="--assignment"):
        return load_assignment(name)


def load_for(work: Path, name: str | None) -> Assignment:
    """Load the assignment that ``own_assignment_option`` names, or else the one that ``work`` is for."""
    return load(assignment_for(work) if name is None else name)


def _assignments(ctx: click.Context, param: click.Parameter, begun: str) -> list[CompletionItem]:
    """What a shell offers: the assignments that ship, and files."""
    from vitcheck.checks.assignment.assignment import assignment_names

    shipped = [CompletionItem(name) for name in assignment_names() if name.startswith(begun)]
    return [*shipped, CompletionItem(begun, type="file")]


_assignment = partial(
    click.option,
    "--assignment",
    shell_complete=_assignments,
    metavar="NAME|FILE",
    help="What is asked for: an assignment that ships, or a TOML file.",
)
assignment_option = _assignment(default=DEFAULT, show_default=True)
# of one's own work: what `load_for` takes
own_assignment_option = _assignment(show_default=f"the {FILE} beside FILE or above it, else {DEFAULT}")


checks_option = click.option(
    "--checks",
    type=click.Path(file_okay=False, path_type=Path),
    callback=existing,
    help="A folder with further checks, as pytest finds them.",
)


def seed_option(what: str) -> Callable[[Command], Command]:
    """Where one seed is as good as another."""
    return click.option("--seed", type=SEEDS, default=0, show_default=True, help=f"{what} are drawn from it.")


def isolation_option(default: str) -> Callable[[Command], Command]:
    """What keeps submissions from the machine."""
    return click.option(
        "--isolation",
        type=click.Choice(["auto", "require", "none"]),
        default=default,
        show_default=True,
        help="What keeps submissions from the rest of this machine: what works here; all of it, or nothing is"
        " graded; or limits on time and memory alone.",
    )


def sandbox_or_refuse(isolation: str) -> Sandbox | None:
    """Try what ``isolation_option`` names on this machine; None where it is limits alone."""
    from vitcheck.submissions.sandbox.isolation import Isolation, IsolationError, open_sandbox

    with refusing(IsolationError):
        return open_sandbox(Isolation(isolation))


def gradebook_option(default: str) -> Callable[[Command], Command]:
    """Where the gradebook is; ``default`` is for the help."""
    return click.option(
        "--gradebook",
        metavar="FILE|URL",
        help=f"An SQLite file, or postgresql://user@host/database.  [default: {default}]",
    )


def open_or_refuse(place: str, *, create: bool = False) -> Gradebook:
    """Open the gradebook that ``gradebook_option`` names."""
    from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError
    from vitcheck.checks.classes.gradebook.opening import open_gradebook

    with refusing(GradebookError, parameter="--gradebook"):
        return open_gradebook(place, create=create)


def did_you_mean(name: str, known: list[str]) -> str:
    """The end of a message: what is near, if anything is."""
    from vitcheck.reports.words.text import one_line

    near = [one_line(one) for one in get_close_matches(name, known)]
    return f"; did you mean {' or '.join(near)}?" if near else ""
