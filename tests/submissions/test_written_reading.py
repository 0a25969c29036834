"""Reports are read as text, whatever they are made to do to who reads them."""

from __future__ import annotations

import io
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
import written_reports
from docx import Document as Word
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter
from pypdf.generic import EncodedStreamObject, NameObject

from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.reading import documents as found
from vitcheck.submissions.reading.packing import pack
from vitcheck.submissions.reading.source import read_source
from vitcheck.submissions.written import reading
from vitcheck.submissions.written.passages import PassageKind
from vitcheck.submissions.written.reading import WrittenReport, read_documents

CODE = b"from torch import nn\n\nclass ViT(nn.Module):\n    pass\n"


def handed_in(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def read(tmp_path: Path, zygote: Zygote, name: str, content: bytes) -> WrittenReport:
    (document,) = read_documents(handed_in(tmp_path, {name: content}), zygote)
    assert document.name == name
    return document


@pytest.mark.parametrize("name", written_reports.KINDS)
def test_every_kind_is_read_with_its_text_in_order(name: str, tmp_path: Path, confined: Zygote) -> None:
    document = read(tmp_path, confined, name, written_reports.KINDS[name]())
    assert document.problem is None
    text = "\n".join(one.text for one in document.passages)
    places = [text.index(one) for one in ("S01", "S06", "S12", "S02", "S13", "positional", "order of tokens")]
    assert places == sorted(places)


@pytest.mark.parametrize("name", ["report.md", "report.tex", "report.docx", "report.ipynb"])
def test_headings_and_rows_of_tables_are_known_as_such(name: str, tmp_path: Path, confined: Zygote) -> None:
    passages = read(tmp_path, confined, name, written_reports.KINDS[name]()).passages
    assert sum(one.kind is PassageKind.HEADING and one.text.startswith("S") for one in passages) == 3
    rows = [one.text for one in passages if one.kind is PassageKind.ROW]
    assert [one.split(" | ")[1] for one in rows if one.startswith("S")] == ["a tensor", "a tensor"]


def test_latex_opens_no_file_that_it_names(tmp_path: Path, zygote: Zygote) -> None:
    secret = tmp_path / "elsewhere" / "secret.tex"
    secret.parent.mkdir()
    secret.write_text("the answer key")
    text = rf"\input{{{secret}}} \include{{{secret}}} \lstinputlisting{{{secret}}} text \openin5={secret}"
    document = read(tmp_path / "handed", zygote, "report.tex", text.encode())
    assert document.problem is None
    assert "the answer key" not in repr(document.passages)
    assert any("text" in one.text for one in document.passages)


def test_code_in_latex_is_code_whatever_stands_in_it(tmp_path: Path, zygote: Zygote) -> None:
    text = r"before \begin{lstlisting}[language=Python]" "\nx = y % 2 & {$\n" r"\end{lstlisting} after"
    passages = read(tmp_path, zygote, "report.tex", text.encode()).passages
    assert [one.text for one in passages] == ["before", "x = y % 2 & {$", "after"]
    assert passages[1].kind is PassageKind.CODE


def docx_with(part: str, content: bytes) -> bytes:
    """A Word file one part of which is replaced."""
    plain, changed = io.BytesIO(), io.BytesIO()
    Word().save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(changed, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return changed.getvalue()


LAUGHS = b"<!DOCTYPE l [<!ENTITY a 'ha'>" + b"".join(
    b"<!ENTITY %c '%s'>" % (98 + n, b"&%c;" % (97 + n) * 30) for n in range(9)
)
ENTITIES = (
    LAUGHS + b"]><w:document xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'>"
    b"<w:body><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:body></w:document>"
)
FILES = ENTITIES.replace(b"'ha'", b"SYSTEM 'file:///etc/passwd'").replace(b"&j;", b"&a;")


def test_entities_in_word_files_neither_grow_nor_read_files(tmp_path: Path, confined: Zygote) -> None:
    for number, content in enumerate((ENTITIES, FILES)):
        word = docx_with("word/document.xml", content)
        document = read(tmp_path / str(number), confined, "r.docx", word)
        assert sum(len(one.text) for one in document.passages) < 1000
        assert "root:" not in repr(document)


def test_a_bomb_in_a_word_file_is_not_unpacked(tmp_path: Path, zygote: Zygote) -> None:
    bomb = docx_with("word/styles.xml", bytes(300 * 2**20))
    assert len(bomb) < 2**20
    document = read(tmp_path, zygote, "report.docx", bomb)
    assert document.problem == "it unpacks to more than 256 MB; save it anew"


def encrypted() -> bytes:
    writer, file = PdfWriter(PdfReader(io.BytesIO(written_reports.pdf()))), io.BytesIO()
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(file)
    return file.getvalue()


def without_text() -> bytes:
    page = FPDF()
    page.add_page()
    page.rect(10, 10, 50, 50)
    return bytes(page.output())


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("r.pdf", encrypted(), "it is encrypted; save it without a password"),
        ("r.pdf", without_text(), "it holds no text, as scans do; export it from the program"),
        ("r.pdf", b"%PDF-1.7\nnonsense", "it is damaged (Pdf"),
        ("r.pdf", b"", "it is damaged ("),
        ("r.docx", b"PK\x03\x04nonsense", "it is damaged (BadZipFile"),
        ("r.ipynb", b'{"cells": 3}', "it is damaged ("),
        ("r.tex", b"{" * 50_000, "it is damaged (RecursionError"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_reason(
    name: str, content: bytes, problem: str, tmp_path: Path, zygote: Zygote
) -> None:
    document = read(tmp_path, zygote, name, content)
    assert document.passages == ()
    assert str(document.problem).startswith(problem)


def test_what_takes_for_ever_is_given_up(tmp_path: Path, zygote: Zygote) -> None:
    handed_in(tmp_path, {"r.md": b"*a **b** c* " * 40_000})
    with patch.object(reading, "LIMITS", replace(reading.LIMITS, request_seconds=0.05)):
        (document,) = read_documents(tmp_path, zygote)
    assert document.problem == "to read it took more than 0.05 s"


def test_too_large_and_too_many_are_said(tmp_path: Path, zygote: Zygote) -> None:
    many = {f"{number:02}.md": b"text" for number in range(12)}
    with (
        patch.object(found, "DOCUMENT_BYTES", 10),
        patch("vitcheck.submissions.written.reading.DOCUMENT_BYTES", 10),
    ):
        large = read_documents(handed_in(tmp_path / "a", {"r.md": b"12345678901"}), zygote)
    assert [one.problem for one in large] == ["it is larger than 0 MB"]
    read_ = read_documents(handed_in(tmp_path / "b", many), zygote)
    assert [one.problem for one in read_] == [None] * 8 + [
        "not read: of each submission, the first 8 documents are"
    ]


def test_a_missing_package_is_named_with_what_installs_it(tmp_path: Path, zygote: Zygote) -> None:
    handed_in(tmp_path, {"r.pdf": written_reports.pdf()})
    with patch("vitcheck.submissions.written.reading.find_spec", return_value=None):
        (document,) = read_documents(tmp_path, zygote)
    assert document.lacking
    assert "pypdf" in str(document.problem)
    assert "pip install 'vitcheck[reports]'" in str(document.problem)


def test_a_report_beside_the_code_disturbs_neither_it_nor_an_archive(tmp_path: Path, zygote: Zygote) -> None:
    reports = {name: make() for name, make in written_reports.KINDS.items() if name != "report.ipynb"}
    plain = handed_in(tmp_path / "plain", {"vit.py": CODE})
    beside = handed_in(tmp_path / "beside", {"vit.py": CODE, **reports, "~$report.docx": b"lock"})
    assert read_source(beside).files == read_source(plain).files
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as archive:
        for name, content in {"vit.py": CODE, **reports}.items():
            archive.writestr(f"work/{name}", content)
    assert read_source(tmp_path / "packed.zip").files == read_source(plain).files
    names = [one.name for one in read_documents(tmp_path / "packed.zip", zygote)]
    assert sorted(names) == sorted(f"work/{name}" for name in reports)
    assert sorted(one.name for one in read_documents(beside, zygote)) == sorted(reports)


def test_reports_go_with_the_code_to_another_machine(tmp_path: Path) -> None:
    folder = handed_in(tmp_path / "ann", {"vit.py": CODE, "report.md": b"# S01"})
    before = pack(folder)
    with before.unpacked() as unpacked:
        assert (unpacked / "report.md").read_bytes() == b"# S01"
    (folder / "report.md").write_bytes(b"# S02")
    assert pack(folder).digest != before.digest


def test_of_a_report_without_end_the_beginning_is_read(tmp_path: Path, zygote: Zygote) -> None:
    many = read(tmp_path / "many", zygote, "r.md", b"S12\n\n" * 30_000)
    assert (many.problem, len(many.passages)) == (None, 10_000)
    long = read(tmp_path / "long", zygote, "r.md", b"# S12\n\n" + b"word " * 200_000)
    assert [one.text for one in long.passages] == ["S12"]


def test_a_bomb_in_a_pdf_costs_that_report_alone(tmp_path: Path, confined: Zygote) -> None:
    writer, file = PdfWriter(), io.BytesIO()
    page = writer.add_blank_page(100, 100)
    stream = EncodedStreamObject()
    stream[NameObject("/Filter")] = NameObject("/FlateDecode")
    stream._data = zlib.compress(bytes(200 * 2**20))
    page[NameObject("/Contents")] = writer._add_object(stream)
    writer.write(file)
    assert len(file.getvalue()) < 2**20
    handed_in(tmp_path, {"bomb.pdf": file.getvalue(), "report.md": b"# S12"})
    bomb, report = read_documents(tmp_path, confined)
    assert bomb.passages == ()
    assert bomb.problem
    assert [one.text for one in report.passages] == ["S12"]
