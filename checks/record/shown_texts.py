"""Texts of a record, in which nothing that a student wrote drives whoever shows them. Imports no torch."""

from __future__ import annotations

from typing import Any

from ...submissions.reading.unseen import plain


def shown(given: Any) -> Any:
    """Write out every character that cannot be seen, but for line ends and tabs, which code has.

    In what a record is made of: texts, lists of them and mappings. Records in it have seen to theirs.
    """
    if isinstance(given, dict):
        return {name: shown(one) for name, one in given.items()}
    if isinstance(given, list) and given and type(given[0]) is str:
        return [shown(one) for one in given]
    return plain(given.replace("\r\n", "\n"), keep="\n\t") if type(given) is str else given
