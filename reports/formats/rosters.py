"""Tables of students as learning management systems give them out, and who of a class is in them."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..words.spreadsheets import FORMULA

_DOWNLOADED = re.compile(r"(?P<name>.+)_(?P<number>\d+)")  # as batches of Canvas and Moodle name students
_GROUP = "-"  # stands between a group and the name of a student in Moodle, which has no underscore in either


class RosterError(Exception):
    """A roster that cannot be used; the message says why, and what to do."""


@dataclass(frozen=True)
class Roster:
    """A table with its header, and how it was written, so that the grades can be written likewise."""

    header: tuple[str, ...]
    rows: tuple[Mapping[str, str], ...]
    encoding: str = "utf-8"
    delimiter: str = ","

    def write(self, rows: Iterable[Mapping[str, str]], header: Sequence[str]) -> bytes:
        """Return the file with other rows and columns."""
        table = io.StringIO()
        writer = csv.DictWriter(
            table, header, restval="", delimiter=self.delimiter, extrasaction="ignore", lineterminator="\r\n"
        )
        writer.writeheader()
        writer.writerows(rows)
        return table.getvalue().encode(self.encoding)


def read_roster(content: bytes) -> Roster:
    """Read CSV, or Blackboard's tabs in UTF-16. Raises RosterError where it is neither."""
    encoding = "utf-8"
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        encoding = "utf-16"
    elif content.startswith(BOM_UTF8):
        encoding = "utf-8-sig"
    try:
        text = content.decode(encoding)
        first = text.partition("\n")[0]
        delimiter = max("\t;,", key=first.count)
        header, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        raise RosterError(f"the roster is no table of text: {error}. Save it as CSV in UTF-8") from None
    names = tuple(name.strip() for name in header)
    filled = (row for row in rows if any(row))
    return Roster(names, tuple(dict(zip(names, row, strict=False)) for row in filled), encoding, delimiter)


@dataclass(frozen=True)
class Identity:
    """The columns that say who a student is.

    ``ids`` hold what a submission may be called. Where a batch was downloaded, it is called after one of
    ``names`` and the number in the column ``number``, which must agree.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    number: str | None = None

    def find(self, submission: str, rows: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
        """List the rows that ``submission`` may be."""
        return [row for row in rows if self._is_called(submission, row) or self._is_numbered(submission, row)]

    def _is_called(self, submission: str, row: Mapping[str, str]) -> bool:
        called = submission.casefold()
        cells = (undefused(row.get(column, "")).strip() for column in (*self.ids, *self.names))
        return any(called == cell.casefold() for cell in cells if cell)

    def _is_numbered(self, submission: str, row: Mapping[str, str]) -> bool:
        parts = _DOWNLOADED.fullmatch(submission)
        if parts is None or self.number is None:
            return False
        whole = row.get(self.number, "")
        name = next((row[column] for column in self.names if row.get(column)), whole.rstrip("0123456789"))
        same_number = whole.split()[-1:] == [parts["number"]]
        return same_number and bool(_letters(name)) and _letters(name) in _names(parts["name"])


def undefused(cell: str) -> str:
    """The text that ``tables.text_cell`` was given, but for its blanks."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def _names(called: str) -> set[str]:
    """The letters of a name, and of what is left of it without a group."""
    parts = called.split(_GROUP) if "_" not in called else [called]
    return {_letters(_GROUP.join(parts[start:])) for start in range(len(parts))}


def _letters(name: str) -> str:
    """Composed, since some systems write an é as two characters."""
    return re.sub(r"[\W_]", "", unicodedata.normalize("NFKC", name)).casefold()
