"""Text in the cells of a table that a spreadsheet reads."""

from __future__ import annotations

from .text import one_line

# a spreadsheet computes what begins with one of these, and some take those of full width for them
FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def text_cell(text: str) -> str:
    """``text`` so that no spreadsheet takes it for a formula."""
    line = one_line(text)
    return f"'{line}" if line.startswith(FORMULA) else line
