"""Attacks by what is handed in, before any of it is executed: archives, notebooks, folders, file names."""

from __future__ import annotations

import gzip
import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from corpus import BASES

from .attack import Expected

_CODE = BASES["report"].source()
_RIGHT = Expected(least=100, most=100)


@dataclass(frozen=True)
class Handed:
    """A submission that ``make`` writes below a folder; the answer is its path."""

    name: str
    expected: Expected
    make: Callable[[Path], Path]


def zipped(name: str, members: Mapping[str, str | bytes]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        return folder / name

    return make


def _tar(kind: bytes, target: str) -> Callable[[Path], Path]:
    """An archive of the code, and of a link or device."""

    def make(folder: Path) -> Path:
        with tarfile.open(folder / "a.tar", "w") as archive:
            code = tarfile.TarInfo("vit.py")
            code.size = len(_CODE)
            archive.addfile(code, io.BytesIO(_CODE.encode()))
            other = tarfile.TarInfo("other.py")
            other.type, other.linkname = kind, target
            archive.addfile(other)
        return folder / "a.tar"

    return make


def _member(name: str, content: bytes) -> bytes:
    """An archive of one file."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return file.getvalue()


def of_bytes(name: str, content: bytes) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    return make


def in_folder(name: str, inside: Callable[[Path], object]) -> Callable[[Path], Path]:
    """A folder with the code in it, and with what ``inside`` adds."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.mkdir()
        (path / "vit.py").write_text(_CODE)
        inside(path)
        return path

    return make


def _notebook(*cells: str) -> bytes:
    rows = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": one} for one in cells]
    return json.dumps({"nbformat": 4, "nbformat_minor": 2, "metadata": {}, "cells": rows}).encode()


def _nested(depth: int) -> bytes:
    """An archive in an archive in an archive."""
    content, name = _CODE.encode(), "vit.py"
    for _ in range(depth):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(name, content)
        content, name = file.getvalue(), "inner.zip"
    return content


HANDING_IN = (
    Handed(
        "an archive that climbs out", Expected("refused", "outside"), zipped("a.zip", {"../vit.py": _CODE})
    ),
    Handed(
        "an archive from the root", Expected("refused", "outside"), zipped("a.zip", {"/etc/vit.py": _CODE})
    ),
    Handed(
        "an archive that explodes",  # of which no more is unpacked than code has room
        Expected("not_loaded", "null"),
        zipped("a.zip", {f"{number}.py": bytes(1 << 20) for number in range(300)}),
    ),
    Handed(
        "a gzip that explodes",
        Expected("refused", "unpacks to"),
        of_bytes("a.tgz", gzip.compress(_member("x.bin", bytes(1 << 27)))),
    ),
    Handed(
        "archives within archives", Expected("not_loaded", "no Python file"), of_bytes("a.zip", _nested(5))
    ),
    Handed(
        "more members than anyone writes",
        Expected("refused", "more than 20,000 members"),
        zipped("a.zip", {f"{number}.py": "" for number in range(20_001)}),
    ),
    Handed(
        "a symbolic link in an archive",
        Expected("refused", "link or device"),
        _tar(tarfile.SYMTYPE, "/etc/passwd"),
    ),
    Handed(
        "a hard link in an archive",
        Expected("refused", "link or device"),
        _tar(tarfile.LNKTYPE, "/etc/passwd"),
    ),
    Handed("a device in an archive", Expected("refused", "link or device"), _tar(tarfile.CHRTYPE, "")),
    Handed(
        "links that go round in circles",
        _RIGHT,
        in_folder("circle", lambda path: (path / "again").symlink_to(path, target_is_directory=True)),
    ),
    Handed(
        "a link to a file of the instructor's",
        _RIGHT,
        in_folder("linked", lambda path: (path / "secret.txt").symlink_to("/etc/passwd")),
    ),
    Handed(
        "a pipe that nobody writes to", _RIGHT, in_folder("piped", lambda path: os.mkfifo(path / "wait.py"))
    ),
    Handed(
        "a file name with a line end and a formula",
        _RIGHT,
        in_folder("named", lambda path: (path / "=1+1\n<b>.txt").write_text("=cmd()")),
    ),
    Handed("a huge notebook", Expected("refused", "larger than"), of_bytes("a.ipynb", b" " * (65 << 20))),
    Handed("JSON nested beyond all depth", Expected("not_loaded", "JSON"), of_bytes("a.ipynb", b"[" * 10**6)),
    Handed(
        "a notebook whose cells are no text",
        Expected("not_loaded", "damaged notebook"),
        of_bytes("a.ipynb", _notebook("x").replace(b'"x"', b"{}")),
    ),
    Handed(
        "a notebook of ten thousand cells", _RIGHT, of_bytes("a.ipynb", _notebook(_CODE, *["x = 1"] * 10_000))
    ),
    Handed(
        "code in no encoding",
        Expected("not_loaded", "syntax error"),
        of_bytes("a.py", bytes(range(128, 256)) * 99),
    ),
    Handed(
        "code that declares an encoding that does not exist",
        _RIGHT,
        of_bytes("a.py", b"# coding: klingon\n" + _CODE.encode()),
    ),
    Handed(
        "code with a NUL in it",
        Expected("not_loaded", "null"),
        of_bytes("a.py", b"x = '\0'\n" + _CODE.encode()),
    ),
    Handed(
        "an expression nested beyond what the parser takes",
        Expected("not_loaded", ""),
        of_bytes("a.py", b"x = " + b"(" * 10**5 + b")" * 10**5),
    ),
    Handed(
        "an operator chain beyond what the compiler takes",
        Expected("not_loaded", ""),
        of_bytes(
            "a.py",
            _CODE.encode()
            + b"\nY = "
            + b"+".join([b"IMG_SIZE"] * 10**5)
            + b"\nclass A(nn.Module):\n    y = Y\n",
        ),
    ),
    Handed(
        "code that is larger than any code",
        Expected("refused", "larger than"),
        of_bytes("a.py", b"#" * (3 << 20)),
    ),
)
