"""Characters that cannot be seen, written out: no text drives a terminal, or seems to be another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

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
_ORDINARY = re.compile(r"[ -~]*")
_EMOJI = "\ufe0f"  # after a symbol it is how keyboards write an emoji
_MARKS = {"Mn", "Me"}  # stand above, below and around the letter before them
# of one letter: Hebrew with vowels and accents has as many, what covers other lines has dozens
_MOST_MARKS = 4
_JOINERS = "\u200c\u200d"  # cannot be seen, and belong to Persian and Indian names
_BYTES = {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}  # by what Python has for them


def visible(text: str, keep: str = "\n") -> str:
    r"""``text`` with every character that cannot be seen written out, such as ``\x1b`` or ``\u202e``.

    So are marks without a letter, and those that are too many for one. What is in ``keep`` stays.
    """
    return text if _ORDINARY.fullmatch(text) else "".join(_shown(text, keep))


def plain(text: str, keep: str = "\n") -> str:
    r"""The same for text that names files; bytes in them that are no text are written as ``\xe9``."""
    return visible(text.translate(_BYTES), keep + _JOINERS)


@lru_cache(_KNOWN)
def is_unseen(character: str) -> bool:
    """Say whether it has no look of its own."""
    return unicodedata.category(character) in _UNSEEN or bool(_BLANK.match(character))


@lru_cache(_KNOWN)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in _MARKS


def _shown(text: str, keep: str) -> Iterator[str]:
    before, marks = " ", 0
    for character in text:
        marks = marks + 1 if _is_mark(character) else 0
        emoji = character == _EMOJI and unicodedata.category(before).startswith("S")
        stray = marks > _MOST_MARKS or (marks and before.isspace())
        hidden = is_unseen(character) and character not in keep and not emoji
        yield _written_out(character) if stray or hidden else character
        before = before if marks else character


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
