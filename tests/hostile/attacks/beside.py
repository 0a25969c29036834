"""Attacks by what lies beside right code, and by how code is written before it is run."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

from corpus import BASES

from .attack import PARTS, Expected
from .handing_in import Handed, in_folder, of_bytes, zipped

_CODE = BASES["report"].source()
_RIGHT = Expected(least=100, most=100)
_WRONG = _CODE.replace("math.sqrt(self.head_dim)", "math.sqrt(self.dim)")
_MARKS = "\n".join(re.findall(r"# BREAKPOINT.*", _CODE)) + "\n"
_UNMARKED = re.sub(r" *# BREAKPOINT.*\n", "", _CODE)
_PIECE = bytes(range(256)) * 4096  # 1 MB
_TO_SAY = "not read: "


def _beside(name: str, text: str | bytes, expected: Expected = _RIGHT) -> Handed:
    """Right code, and another file."""
    content = text.encode() if isinstance(text, str) else text

    def inside(path: Path) -> None:
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_bytes(content)

    return Handed(f"beside right code: {name}", expected, in_folder("beside", inside))


def _files(count: int, name: str, content: bytes) -> Callable[[Path], Path]:
    return in_folder("full", lambda path: [(path / f"{n}{name}").write_bytes(content) for n in range(count)])


def _linked(target: str) -> Callable[[Path], Path]:
    """Another's work, under a name of one's own."""

    def make(folder: Path) -> Path:
        (folder / "ann").mkdir()
        (folder / "ann" / "vit.py").write_text(_CODE)
        (folder / "bob").symlink_to(target.format(folder))
        return folder / "bob"

    return make


def _special(make: Callable[[Path], object]) -> Callable[[Path], Path]:
    def made(folder: Path) -> Path:
        make(folder / "vit.py")
        return folder / "vit.py"

    return made


def _listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def _huge(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)  # of which the disk holds nothing


_CODECS = ("hex", "rot13", "zlib", "bz2", "idna", "punycode", "unicode_escape", "utf-7", "undefined", "cp037")

BESIDE = (
    *(
        Handed(f"code in {one}", _RIGHT, of_bytes("a.py", f"# coding: {one}\n{_CODE}".encode()))
        for one in _CODECS
    ),
    _beside("other.py", "# coding: hex\nzz"),
    _beside("deep.py", "x = " + "-" * 900 + "1\ndef f(x):\n    " + "-" * 900 + "x.view(1)\n"),
    _beside("calls.py", "def f(x):\n    x" + ".f()" * 1500 + ".view(1)\n"),
    _beside("future.py", "from __future__ import nothing, all_feature_names\n"),
    _beside("number.py", "x = " + "9" * 10**6),
    _beside("cells.ipynb", "[" * 10**6),
    _beside("vit_transformer_old.py", _WRONG, Expected(least=100, most=100, note="of vit.py was graded")),
    _beside("zz/Copy of vit.py", _WRONG),
    _beside("backup/vit.py", _WRONG),
    _beside("test_vit.py", _WRONG),
    _beside("huge.py", b"#" * (3 << 20), Expected(least=100, most=100, note="huge.py is larger than 2 MB")),
    Handed(
        "six thousand small files",
        Expected(least=100, most=100, note=f"{_TO_SAY}4,500 files are beyond"),
        _files(6000, ".csv", b"1,2"),
    ),
    Handed(
        "pictures of more than the sandbox holds",
        Expected(least=100, most=100, note=_TO_SAY),
        _files(26, ".png", _PIECE * 3),
    ),
    Handed(
        "an archive of a file and a folder of the same name",
        _RIGHT,
        zipped(
            "a.zip", {"vit.py": _CODE, "a": "", "a.txt": "x", "a.txt/b.txt": "y", "n" * 300 + ".txt": "z"}
        ),
    ),
    Handed(
        "a list of marks below the model",
        Expected(least=85, most=100),
        of_bytes("a.py", (_UNMARKED + _MARKS).encode()),
    ),
    Handed(
        "a list of marks above the model",
        Expected(least=85, most=100),
        of_bytes("a.py", (_MARKS + _UNMARKED).encode()),
    ),
    Handed("a name with dots", _RIGHT, of_bytes("my.model.py", _CODE.encode())),
    Handed("a name with blanks and brackets", _RIGHT, of_bytes("vit model (1).py", _CODE.encode())),
    Handed("a suffix in capitals", _RIGHT, zipped("a.zip", {"VIT.PY": _CODE})),
    Handed("a hidden file alone", Expected("not_loaded", "is hidden"), zipped("a.zip", {".vit.py": _CODE})),
    Handed(
        "a file that is too large alone",
        Expected("not_loaded", "huge.py is larger than 2 MB"),
        zipped("a.zip", {"huge.py": os.urandom(3 << 20)}),
    ),
    Handed("another's work by a link", Expected("refused", "is a link"), _linked("ann")),
    Handed(
        "another's work by a link with its whole path", Expected("refused", "is a link"), _linked("{}/ann")
    ),
    Handed("a link to what never ends", Expected("refused", "is a link"), _linked("/dev/zero")),
    Handed("a link to itself", Expected("refused", "is a link"), _linked("bob")),
    Handed("a pipe that is a submission", Expected("not_loaded", "is a pipe"), _special(os.mkfifo)),
    Handed("a socket that is a submission", Expected("not_loaded", "is a socket"), _special(_listening)),
    Handed("a file of a terabyte", Expected("refused", "is larger than"), _special(_huge)),
    Handed(
        "a forward pass that is async",
        Expected(most=PARTS, checks=(("shape[S02]", "forward is async"),)),
        of_bytes("a.py", _CODE.replace("def forward(self, img", "async def forward(self, img").encode()),
    ),
    Handed(
        "a forward pass that is a generator",
        Expected(most=PARTS, checks=(("shape[S02]", "forward is a generator"),)),
        of_bytes(
            "a.py",
            _CODE.replace("        B = img.size(0)\n", "        B = img.size(0)\n        yield\n").encode(),
        ),
    ),
)
