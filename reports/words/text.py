"""Text that a student controls, made safe to show, and numbers in words."""

from __future__ import annotations

import math
import re

from ...checks.record.sentences import as_sentence
from ...submissions.reading import unseen
from .wording import say

NAME_LIMIT = 120  # a submission, a class, a file
LINE_LIMIT = 400  # a line of code, a sentence
TEXT_LIMIT = 4000  # an exception, a counterexample

_COMMAND = re.compile(r"##(?=\w*\[)")  # "##[error]": GitHub and Azure follow it wherever it stands in a log


def visible(text: str) -> str:
    r"""``text`` with every character that cannot be seen written out, such as ``\x1b`` or ``\u202e``.

    So are marks without a letter, those that are too many for one, and what a log takes for a command. Line
    ends stay, a tab becomes four spaces.
    """
    return _COMMAND.sub(r"#\\x23", unseen.visible(text.replace("\r\n", "\n").replace("\t", "    ")))


def clean(text: str, limit: int = TEXT_LIMIT) -> str:
    """``text`` as ``visible`` shows it, cut after ``limit`` characters, saying how many more there were."""
    cut = len(text) - limit
    return visible(text) if cut <= 0 else say("text.cut", start=visible(text[:limit]), more=f"{cut:,}")


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """``text`` as ``clean`` gives it, with runs of blanks and line ends as one blank."""
    return " ".join(clean(text, limit).split())


def sentence(text: str) -> str:
    """``text`` on one line, as ``as_sentence`` gives it."""
    return as_sentence(one_line(text))


def points(number: float) -> str:
    """At most two decimals, and none that are zero."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


def numeral(number: float, significant: int = 3) -> str:
    """So many digits at most, such as 3.11, 0.001 or 4.4e-16."""
    if not math.isfinite(number):
        return str(number)
    # adding zero takes the sign from a zero
    digits, _, power = f"{number + 0.0:.{significant}g}".partition("e")
    return f"{digits}e{int(power)}" if power else digits
