"""Text that a student controls, made safe to show, and numbers in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from .wording import say

NAME_LIMIT = 120  # a submission, a class, a file
LINE_LIMIT = 400  # a line of code, a sentence
TEXT_LIMIT = 4000  # an exception, a counterexample

# Cc and Cf drive terminals, reverse the direction of text or take no room; Zl and Zp break lines;
# Cs is half a character, Co and Cn have no agreed look.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}

# Letters, marks and symbols without a look: fillers of Hangul and Khmer, blank Braille, an empty note head,
# and what chooses between the forms of the character before it
_BLANK = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
    r"|[\U0001d159\U000e0100-\U000e01ef]"
)
_KNOWN = 4096  # characters: an alphabet is looked up once
_ORDINARY = re.compile(r"[\n -~]*")
_EMOJI = "\ufe0f"  # after a symbol it is how keyboards write an emoji
_MARKS = {"Mn", "Me"}  # stand above, below and around the letter before them
_MOST_MARKS = 4  # of a letter: Hebrew with vowels and accents has as many, what covers other lines dozens
_COMMAND = re.compile(r"##(?=\w*\[)")  # "##[error]": GitHub and Azure follow it wherever it stands in a log


def visible(text: str) -> str:
    r"""``text`` with every character that cannot be seen written out, such as ``\x1b`` or ``\u202e``.

    So are marks without a letter, those that are too many for one, and what a log takes for a command. Line
    ends stay, a tab becomes four spaces.
    """
    plain = text.replace("\r\n", "\n").replace("\t", "    ")
    return _COMMAND.sub(r"#\\x23", plain if _ORDINARY.fullmatch(plain) else "".join(_shown(plain)))


def _shown(text: str) -> Iterator[str]:
    before, marks = " ", 0
    for one in text:
        marks = marks + 1 if _is_mark(one) else 0
        emoji = one == _EMOJI and unicodedata.category(before).startswith("S")
        stray = marks > _MOST_MARKS or (marks and before.isspace())
        yield _written_out(one) if stray or (unseen(one) and one != "\n" and not emoji) else one
        before = before if marks else one


def clean(text: str, limit: int = TEXT_LIMIT) -> str:
    """``text`` as ``visible`` shows it, cut after ``limit`` characters, saying how many more there were."""
    cut = len(text) - limit
    return visible(text) if cut <= 0 else say("text.cut", start=visible(text[:limit]), more=f"{cut:,}")


def one_line(text: str, limit: int = LINE_LIMIT) -> str:
    """``text`` as ``clean`` gives it, with runs of blanks and line ends as one blank."""
    return " ".join(clean(text, limit).split())


def sentence(text: str) -> str:
    """``text`` on one line, with a capital first letter and a stop at the end."""
    line = one_line(text)
    return line[:1].upper() + line[1:] + ("" if line.endswith((".", "?", "!", "…", ")")) else ".")


def points(number: float) -> str:
    """At most two decimals, and none that are zero."""
    return f"{number:.2f}".rstrip("0").rstrip(".")


@lru_cache(_KNOWN)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in _MARKS


@lru_cache(_KNOWN)
def unseen(character: str) -> bool:
    """Say whether it has no look of its own."""
    return unicodedata.category(character) in _UNSEEN or bool(_BLANK.match(character))


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
