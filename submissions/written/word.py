"""Word documents (.docx) as passages."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

from docx import Document
from docx.table import Table
from docx.text.paragraph import Paragraph

from ..errors import NotLoaded
from .passages import Passage, PassageKind, row

UNPACKED_BYTES = 256 * 2**20  # of all parts; screenshots are hardly packed
_HEADING = re.compile(r"heading (\d)|title", re.IGNORECASE)
_PICTURES = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}drawing"


def passages(content: bytes) -> Iterator[Passage]:
    """Read a file. Raises NotLoaded where it would unpack to more than ``UNPACKED_BYTES``."""
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        if sum(part.file_size for part in parts.infolist()) > UNPACKED_BYTES:
            raise NotLoaded(f"it unpacks to more than {UNPACKED_BYTES // 2**20} MB; save it anew")
    for block in Document(io.BytesIO(content)).iter_inner_content():
        yield from _rows(block) if isinstance(block, Table) else _paragraph(block)


def _rows(table: Table) -> Iterator[Passage]:
    for line in table.rows:
        yield row([cell.text for cell in line.cells])
        if any(True for cell in line.cells for _ in cell._element.iter(_PICTURES)):
            yield Passage(PassageKind.PICTURE, "")


def _paragraph(paragraph: Paragraph) -> Iterator[Passage]:
    if any(True for _ in paragraph._element.iter(_PICTURES)):
        yield Passage(PassageKind.PICTURE, "")
    if text := paragraph.text.strip():
        style = paragraph.style.name if paragraph.style else None
        heading = _HEADING.fullmatch(style or "")
        level = int(heading[1] or 1) if heading else 0
        yield Passage(PassageKind.HEADING if heading else PassageKind.TEXT, text, level)
