"""What is said of code without running it."""

import ast

import pytest

from vitcheck.submissions.errors import Frame
from vitcheck.submissions.reading.code import (
    Magic,
    Mark,
    cell_file,
    clean,
    imports,
    marks,
    module_file,
    prints,
)
from vitcheck.submissions.reading.python_text import decode


def labels(comment: str) -> list[str]:
    return [mark.label for mark in marks({"vit.py": comment.encode()})]


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# BREAKPOINT S09", ["S09"]),
        ("#breakpoint s9", ["S09"]),
        ("# BREAKPOINT: S09: q, k and v of S08 after the norm", ["S09"]),
        ("## Breakpoint at stage S1 - 3 channels", ["S01"]),
        ("# BREAKPOINT S09, S10, S11", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S09/S10/11 q k v", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S09-S11", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S09 \u2013 S11 (1, 12, 197, 64)", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S09 (Q), S10 (K), S11 (V)", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S09: q, S10: k", ["S09", "S10"]),
        ("# BREAKPOINT S16: norm of S15, S08", ["S16"]),
        ("# BREAKPOINT S09-11", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S9 to S11", ["S09", "S10", "S11"]),
        ("# BREAKPOINT S09 and S10", ["S09", "S10"]),
        ("# BREAKPOINT S09 S10", ["S09", "S10"]),
        ("# BREAKPOINT S12, 12 heads", ["S12"]),
        ("# BREAKPOINT S12 (197x197)", ["S12"]),
        ("# BREAKPOINT S123", []),
        ("# BREAKPOINT here", []),
        ("# see S09", []),
        ("text = '# BREAKPOINT S09'", []),
    ],
)
def test_marks_understand_how_people_write_labels(comment: str, expected: list[str]) -> None:
    assert labels(comment) == expected


def test_marks_name_file_and_line_also_in_cells_with_magics_and_before_a_syntax_error() -> None:
    files = {
        "vit.py": b"x = 1\nq = x  # BREAKPOINT S09\ndef broken(:\n",
        "nb.ipynb[2]": b"!echo it's\n\nq = 1  # BREAKPOINT S10",
        "notes.txt": b"# BREAKPOINT S11",
    }
    assert marks(files) == [Mark("S09", "vit.py", 2), Mark("S10", "nb.ipynb[2]", 3)]


def test_clean_takes_magics_out_and_moves_no_line() -> None:
    text = (
        "%matplotlib inline\n"
        "import torch\n"
        "if torch:\n"
        "    !pip install \\\n"
        "        timm\n"
        "torch.nn?\n"
        "files = !ls\n"
        "x = (7\n"
        "     % 2)\n"
        's = """\n'
        "%d items\n"
        '"""\n'
        "y = 7 \\\n"
        "  % 4\n"
        "assert x != y"
    )
    cleaned, magics = clean(text)
    assert magics == [
        Magic(1, "%matplotlib inline"),
        Magic(4, "!pip install \\"),
        Magic(6, "torch.nn?"),
        Magic(7, "files = !ls"),
    ]
    assert cleaned.count("\n") == text.count("\n")
    values: dict[str, object] = {}
    exec(compile(cleaned, "x", "exec"), values)
    assert (values["x"], values["s"], values["y"]) == (1, "\n%d items\n", 3)


def test_clean_keeps_what_is_python() -> None:
    text = "print('%d'\n% 3)\n"
    assert clean(text) == (text, [])


def test_a_cell_of_another_language_is_blank_and_a_timed_cell_is_python() -> None:
    assert clean("\n%%bash\nls\npwd") == ("\n\n\n", [Magic(2, "%%bash")])
    cleaned, magics = clean("%%time\nx = 1")
    assert ast.unparse(ast.parse(cleaned)) == "pass\nx = 1"
    assert magics == [Magic(1, "%%time")]


def test_prints_are_calls_of_print_and_pprint_anywhere_and_other_names_for_them() -> None:
    source = (
        b"from pprint import pprint\nimport pprint as pp\n%load_ext x\n"
        b"class A:\n    def f(self, logger):\n        print(1)\n        logger.print(2)\n        pprint(3)\n"
        b"import pprint\npprint.pprint(4)\nshow = print\n# print(5)\n"
    )
    assert prints({"a.py": source}) == [Frame("a.py", line) for line in (11, 10, 6, 8)]
    renamed = b"from builtins import print as p\nif (show := print):\n    show(1)\nlog = logger.print\n"
    assert prints({"a.py": renamed}) == [Frame("a.py", line) for line in (1, 2)]


def test_imports_are_top_level_names_with_their_first_place() -> None:
    files = {
        "a.py": b"import torch.nn as nn\ndef f():\n    from einops.layers import x\nfrom . import b\n"
        b"from .c import d\n",
        "b.py": b"import einops, timm\n",
    }
    assert imports(files) == {
        "torch": Frame("a.py", 1),
        "einops": Frame("a.py", 3),
        "timm": Frame("b.py", 1),
    }


@pytest.mark.parametrize(
    "content",
    [
        "é = 1\r\ny = 2".encode("utf-8-sig"),
        "# coding: latin-1\né = 1\ny = 2".encode("latin-1"),
        "é = 1\ny = 2".encode("utf-16"),
        b"\xc3\xa9 = 1\ry = 2",
    ],
)
def test_decode_understands_the_encodings_that_editors_write(content: bytes) -> None:
    text = decode(content)
    assert text.endswith("é = 1\ny = 2")
    assert not text.startswith("\ufeff")


def test_decode_replaces_what_is_broken() -> None:
    assert decode(b"x = 1  # caf\xe9\n") == "x = 1  # caf\ufffd\n"
    assert decode(b"# coding: nothing\nx = 1") == "# coding: nothing\nx = 1"


def test_cells_belong_to_the_module_of_their_notebook() -> None:
    assert module_file(cell_file("deep/nb.ipynb", 12)) == "deep/nb.ipynb"
    assert module_file("deep/vit.py") == "deep/vit.py"
    assert module_file("deep/vit.json") is None
