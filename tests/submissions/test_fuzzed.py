"""Whatever is handed in is read, or it is said why not: right submissions, their bytes changed at random."""

from __future__ import annotations

import random
import re
from contextlib import suppress
from pathlib import Path

import pytest

from vitcheck.checks.examining.stops import lines_below
from vitcheck.checks.rules.model_origin import taken_from_a_library
from vitcheck.checks.tools.similarity import program_text
from vitcheck.submissions.child.loading.program import read as read_program
from vitcheck.submissions.errors import SubmissionError
from vitcheck.submissions.questions.inventory import Inventory
from vitcheck.submissions.reading import code
from vitcheck.submissions.reading.documents import documents
from vitcheck.submissions.reading.packing import pack_of_class
from vitcheck.submissions.reading.predictions import predictions_of
from vitcheck.submissions.reading.source import read_source

EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
PIECES = (  # that mean something to somebody
    *(b"# coding: hex\n", b"# coding: utf-7\n", b"\xef\xbb\xbf", b"\xff\xfe", b"\0", b"\r", b"\x1a", b"\\\n"),
    *(b"(" * 300, b"[" * 9000, b"-" * 900 + b"1", b".f()" * 1500, b'f"{' * 40, b"9" * 5000, b'"""', b"\t"),
    *(b"\xed\xa0\x80", b"%%bash\n", b"!ls\\\n", b"PK\x01\x02", b"PK\x05\x06", b"null", b"{}", b"1e999"),
    *(b"from __future__ import nothing\n", b"lambda: (yield)", b"async ", b"*", b"\xff" * 8),
)
TRIES = 15  # of each kind


def fuzzed(content: bytes, seed: int) -> bytes:
    """Change some bytes, leave some out, and put pieces in."""
    chance, changed = random.Random(seed), bytearray(content)
    for _ in range(chance.choice((1, 3, 30))):
        place = chance.randrange(len(changed) + 1)
        kind = chance.randrange(4)
        if kind == 0:
            changed[place : place + 1] = bytes([chance.randrange(256)])
        elif kind == 1:
            del changed[place : place + chance.choice((1, 9, 400))]
        else:
            changed[place:place] = chance.choice(PIECES)
    return bytes(changed)


def ask_everything(path: Path) -> None:
    """All that the grader reads of a submission before, beside and after it runs."""
    with suppress(SubmissionError), pack_of_class(path).unpacked() as unpacked:
        documents(unpacked)
        program_text(unpacked)
        files = read_source(unpacked).files
        lines_below(files, code.marks(files))
        code.headings(files), code.prints(files), code.imports(files)
        list(code.discarded(files)), list(predictions_of(files, "ViT"))
        taken_from_a_library(Inventory((), {}, ()), files)
        read_program(files, passed_on=False), read_program(files, passed_on=True)


def test_students_text_is_parsed_in_one_place() -> None:
    package = Path(code.__file__).parents[2]
    parses = re.compile(r"\bast\.(?:parse|unparse)\(|\btokenize\.")
    found = {
        one.relative_to(package).as_posix()
        for one in package.rglob("*.py")
        if parses.search(one.read_text("utf-8"))
    }
    own = {
        "api.py",
        "checks/assignment/kinds.py",
        "checks/tools/course/planting.py",
    }  # of this package's files
    assert found - own == {"submissions/reading/python_text.py"}


@pytest.mark.parametrize("seed", range(TRIES))
@pytest.mark.parametrize("name", ["prenorm_conv.py", "notebook.ipynb", "archive.zip"])
def test_changed_bytes_are_no_surprise(name: str, seed: int, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(fuzzed((EXAMPLES / name).read_bytes(), seed))
    ask_everything(tmp_path / name)
