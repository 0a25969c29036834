"""Messages as sentences, so that several can be read one after the other."""

from __future__ import annotations

import re

_NAME = re.compile(r"\S*\w[._]\w")  # at the start: of a file, or in code


def as_sentence(text: str) -> str:
    """With a stop at the end, and a capital first letter unless a name stands there; empty text stays so."""
    end = "" if not text or text.endswith((".", "?", "!", "…")) else "."
    first = text[:1] if _NAME.match(text) else text[:1].upper()
    return f"{first}{text[1:]}{end}"
