"""Characters that cannot be seen, written out: no text drives a terminal, or seems to be another."""

from __future__ import annotations

import unicodedata

# Cc and Cf drive terminals, reverse the direction of text or take no room; Zl and Zp break lines;
# Cs is half a character, Co and Cn have no agreed look.
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"  # cannot be seen, and belong to Persian and Indian names
_BYTES = {0xDC00 + byte: f"\\x{byte:02x}" for byte in range(0x80, 0x100)}  # by what Python has for them


def visible(text: str, keep: str = "\n") -> str:
    r"""``text`` with every character that cannot be seen written out, such as ``\x1b`` or ``\u202e``.

    Those in ``keep`` stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in keep or not _is_unseen(one) else _written_out(one) for one in text)


def plain(text: str, keep: str = "\n") -> str:
    r"""The same for text that names files; bytes in them that are no text are written as ``\xe9``."""
    return visible(text.translate(_BYTES), keep + _JOINERS)


def _is_unseen(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN


def _written_out(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
