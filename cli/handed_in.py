"""What a command finds at the paths that it is given: the submissions of a class, in whatever form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vitcheck.options import refusing, submissions_in
from vitcheck.pseudonyms import given_to

if TYPE_CHECKING:
    from vitcheck.submissions.reading.packing import HandIn

_LOCKED = ("--isolation", "auto")  # what somebody else wrote


@dataclass(frozen=True)
class Handed:
    """Where a submission lies until the command ends, and the PATH that it came with."""

    path: Path
    given: Path
    pseudonyms: Path | None = None

    def packed(self, name: str) -> HandIn:
        """What is in it; under a pseudonym its file is called so, too."""
        from vitcheck.submissions.reading.packing import pack_of_class

        handed = pack_of_class(self.path)
        return handed.called(name) if self.pseudonyms else handed

    def words(self, name: str) -> list[str]:
        """What `vitcheck check` takes for it, as it is called in its class: later, too."""
        if self.pseudonyms:
            return [str(self.given), "--submission", name, "--pseudonyms", str(self.pseudonyms), *_LOCKED]
        if self.path == self.given or self.path.parent == self.given:
            return [str(self.path), *_LOCKED]
        return [str(self.given), "--submission", name, *_LOCKED]


def handed_in(paths: Sequence[Path], out: Path, pseudonyms: Path | None = None) -> dict[str, Handed]:
    """Map the name of each submission, or its pseudonym in this table, to where it is.

    Batches of a learning management system are laid out. ``out`` is where grades are written, and what lies
    there is none. What is not read is said on stderr; that there is nothing else is a usage error.
    """
    from vitcheck.submissions.reading.source import passed_over
    from vitcheck.submissions.reading.submission_names import submission_names

    with refusing(ValueError, OSError):  # the latter of a folder without rights
        laid = _laid_out(paths, out)
        for path, why in passed_over(laid).items():
            if path.resolve() != out.resolve():
                _say(f"not read: {path.name}: {why}")
        found = submissions_in(laid, out)
    given = dict(zip(laid, paths, strict=True))
    names = submission_names(found)
    known = given_to(names, pseudonyms) if pseudonyms else {}
    handed = {
        known.get(name, name): Handed(one, given.get(one) or given[one.parent], pseudonyms)
        for name, one in zip(names, found, strict=True)
    }
    return dict(sorted(handed.items())) if pseudonyms else handed  # the order would tell who is who


def _laid_out(paths: Sequence[Path], out: Path) -> list[Path]:
    from vitcheck.reports.words.text import one_line
    from vitcheck.submissions.reading.lms_batches import BatchError, laid_out

    context = click.get_current_context()
    try:
        return [context.with_resource(laid_out(path, out, _say)) for path in paths]
    except (BatchError, OSError) as error:
        raise click.UsageError(one_line(str(error))) from None


def _say(text: str) -> None:
    from vitcheck.reports.words.quoting import named_line
    from vitcheck.reports.words.text import one_line

    name, *about = one_line(text).partition(":")
    click.echo(named_line(name, "".join(about)), err=True)
