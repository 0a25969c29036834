"""PDF as passages: the lines of each page, since a PDF knows of no headings or tables."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

from pypdf import PageObject, PdfReader

from ..errors import NotLoaded
from .passages import Passage, PassageKind

PAGES = 300  # read; 26 screenshots with their text take 30


def passages(content: bytes) -> Iterator[Passage]:
    """Read a file. Raises NotLoaded where it is encrypted or is pictures alone."""
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # what is odd in a file is nothing to print
    reader = PdfReader(io.BytesIO(content))
    if reader.is_encrypted and not reader.decrypt(""):
        raise NotLoaded("it is encrypted; save it without a password")
    found = [one for number, page in enumerate(reader.pages[:PAGES], 1) for one in _page(page, number)]
    if not any(one.kind is PassageKind.TEXT for one in found):
        raise NotLoaded("it holds no text, as scans do; export it from the program that it was written in")
    yield from found


def _page(page: PageObject, number: int) -> Iterator[Passage]:
    if len(page.images):  # which unpacks none of them
        yield Passage(PassageKind.PICTURE, "", page=number)
    for line in page.extract_text().splitlines():
        if line.strip():
            yield Passage(PassageKind.TEXT, line.strip(), page=number)
