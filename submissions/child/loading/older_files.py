"""Several files that define the same: which of them is meant, by what imports it and what it is called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_OLD = (
    r"old|older|backup|bak|bkp|copy|orig|original|prev|previous|deprecated|archived?|draft|wip|tmp|temp|tests?"
    r"|unused|broken|wrong|skeleton|starter|template|v0|v1"
)
_NEW = r"final|new|newest|latest|fixed|corrected|updated|submission"
_OLD_NAME, _NEW_NAME = (re.compile(rf"(?<![a-z])(?:{one})(?![a-z])", re.IGNORECASE) for one in (_OLD, _NEW))
_LETTERS = 300  # of a path, in which words are looked for


def by_age(files: Iterable[str], importers: Mapping[str, set[str]]) -> list[str]:
    """Sort files so that of two which define the same, the later one is meant, as far as can be told.

    That is what another file imports, or else what no word calls old, a copy or a test. ``importers`` gives
    the files that import a file. What is alike stays in the order in which it is given.
    """
    return sorted(files, key=lambda file: _worth(file, importers.get(file, set())))


def _worth(file: str, importers: set[str]) -> int:
    if any(not _is_old(one) for one in importers - {file}):
        return 3
    return 0 if _is_old(file) else 2 if _NEW_NAME.search(file[-_LETTERS:]) else 1


def _is_old(file: str) -> bool:
    return bool(_OLD_NAME.search(file[-_LETTERS:]))
