"""Messages as sentences, so that several can be read one after the other."""

from __future__ import annotations


def as_sentence(text: str) -> str:
    """With a capital first letter and a stop at the end; empty text stays empty."""
    end = "" if not text or text.endswith((".", "?", "!", "…")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}"
