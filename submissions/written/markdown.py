"""Markdown as passages; HTML in it is text."""

from __future__ import annotations

from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

from .passages import Passage, PassageKind, row

_MARKDOWN = MarkdownIt("commonmark").enable("table")


def passages(content: bytes) -> Iterator[Passage]:
    """Read a file; bytes that are no UTF-8 are replaced."""
    yield from passages_of(content.decode("utf-8-sig", "replace"))


def passages_of(text: str) -> Iterator[Passage]:
    """Read a text."""
    heading = 0
    cells: list[str] | None = None
    for token in _MARKDOWN.parse(text):
        if token.type == "heading_open":
            heading = int(token.tag[1:])
        elif token.type == "tr_open":
            cells = []
        elif token.type == "tr_close":
            yield row(cells or [])
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(token.content)
        elif token.type == "inline":
            yield from _inline(token, heading)
            heading = 0
        elif token.type in ("fence", "code_block"):
            yield Passage(PassageKind.CODE, token.content)
        elif token.type == "html_block":
            yield Passage(PassageKind.TEXT, token.content)


def _inline(token: Token, heading: int) -> Iterator[Passage]:
    yield Passage(PassageKind.HEADING if heading else PassageKind.TEXT, token.content, heading)
    for child in token.children or ():
        if child.type == "image":
            yield Passage(PassageKind.PICTURE, child.content)
