"""Reports for the tests: one text in every kind of file that students hand in."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping

from docx import Document
from fpdf import FPDF

SHAPES = {"S01": "(1, 3, 224, 224)", "S06": "1 x 197 x 768", "S12": "torch.Size([1, 12, 197, 196])"}
ROWS = {"S02": "1 x 196 x 3 x 16 x 16", "S13": "(B, heads, T, T)"}
QUESTION = "Why are positional encodings needed?"
ANSWER = "Attention does not know the order of tokens."


def markdown() -> bytes:
    """Headings, a table, a question and its answer."""
    parts = [f"## {label} - Some tensor\n\nIts shape is {shape}.\n" for label, shape in SHAPES.items()]
    table = "\n".join(f"| {label} | a tensor | {shape} |" for label, shape in ROWS.items())
    parts += [f"| stage | what | shape |\n|---|---|---|\n{table}\n", f"### 3. {QUESTION}\n\n{ANSWER}\n"]
    return "\n".join(parts).encode()


def latex() -> bytes:
    r"""The same, with ``\times`` in mathematics and a caption."""
    parts = [
        rf"\section{{{label} --- Some tensor}} Its shape is ${shape.replace('x', chr(92) + 'times')}$."
        for label, shape in SHAPES.items()
    ]
    table = r" \\ ".join(f"{label} & a tensor & ${shape}$" for label, shape in ROWS.items())
    parts += [
        rf"\begin{{table}}\begin{{tabular}}{{l|l|l}} \hline {table} \\ \end{{tabular}}\end{{table}}",
        rf"\subsection*{{3. {QUESTION}}}{ANSWER}",
    ]
    body = "\n\n".join(parts)
    return rf"\documentclass{{article}}\begin{{document}}{body}\end{{document}}".encode()


def pdf() -> bytes:
    """The same as lines, as a PDF holds them, one statement broken in two."""
    page = FPDF()
    page.add_page()
    page.set_font("Helvetica", size=11)
    for label, shape in SHAPES.items():
        page.multi_cell(0, 6, f"{label} - Some tensor\nIts shape is\n{shape}.")
        page.ln()
    for label, shape in ROWS.items():
        page.cell(30, 6, label)
        page.cell(60, 6, "a tensor")
        page.cell(60, 6, shape)
        page.ln()
    page.multi_cell(0, 6, f"3. {QUESTION}\n{ANSWER}")
    return bytes(page.output())


def word() -> bytes:
    """The same with Word's own headings and table."""
    document = Document()
    for label, shape in SHAPES.items():
        document.add_heading(f"{label} - Some tensor", 2)
        document.add_paragraph(f"Its shape is {shape}.")
    table = document.add_table(0, 3)
    for label, shape in ROWS.items():
        for cell, text in zip(table.add_row().cells, (label, "a tensor", shape)):
            cell.text = text
    document.add_heading(f"3. {QUESTION}", 2)
    document.add_paragraph(ANSWER)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def notebook() -> bytes:
    """The same in text cells, one shape printed by a code cell."""
    text = markdown().decode().replace("Its shape is torch.Size([1, 12, 197, 196]).\n", "")
    before, heading, after = text.partition("| stage |")
    output = {"output_type": "stream", "name": "stdout", "text": "torch.Size([1, 12, 197, 196])\n"}
    return notebook_of(
        ("markdown", before), ("code", "print(scores.shape)", output), ("markdown", heading + after)
    )


def notebook_of(*cells: tuple[str, str] | tuple[str, str, dict[str, str]]) -> bytes:
    """Cells of a kind with their text, and what code gave."""
    written = [
        {"cell_type": kind, "metadata": {}, "source": text}
        | ({"execution_count": None, "outputs": list(outputs)} if kind == "code" else {})
        for kind, text, *outputs in cells
    ]
    return json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": written}).encode()


KINDS: Mapping[str, Callable[[], bytes]] = {
    "report.md": markdown,
    "report.tex": latex,
    "report.pdf": pdf,
    "report.docx": word,
    "report.ipynb": notebook,
}
