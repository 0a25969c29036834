"""What everybody imports, and a file uses without importing it, is found, lent and told."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import BASES
from one_file import graded_file

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.reading.missing_imports import missing_imports


def missing(*cells: str) -> list[tuple[str, int, str]]:
    files = {f"vit.ipynb[{number}]": text.encode() for number, text in enumerate(cells, 1)}
    found = missing_imports(files if len(cells) > 1 else {"vit.py": cells[0].encode()})
    return [(one.frame.file, one.frame.line, one.line) for one in found]


@pytest.mark.parametrize(
    "text",
    [
        "import torch.nn as nn\nnn.Linear(1, 2)",
        "from torch import nn\nnn.Linear(1, 2)",
        "from helpers import *\nnn.Linear(1, 2)",
        "def f(nn):\n    return nn.Linear(1, 2)",
        "nn = 3\nnn + 1",
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nnp",
        "unknown.thing()",
        "self.nn = 1",
    ],
)
def test_what_is_bound_is_not_missing(text: str) -> None:
    assert missing(text) == []


def test_what_is_missing_is_told_once_with_its_line() -> None:
    text = "import torch\n\nclass Net(nn.Module):\n    pass\n\nnn.Linear(F.x, 2)"
    assert missing(text) == [
        ("vit.py", 3, "import torch.nn as nn"),
        ("vit.py", 6, "import torch.nn.functional as F"),
    ]


def test_the_cells_of_a_notebook_are_one_module() -> None:
    assert missing("from torch import nn", "nn.Linear(1, 2)") == []
    assert missing("import torch", "nn.Linear(1, 2)") == [("vit.ipynb[2]", 1, "import torch.nn as nn")]


def test_the_rest_of_the_file_is_judged(zygote: Zygote, tmp_path: Path) -> None:
    text = BASES["prenorm"].source()
    assert text.count("import torch.nn as nn\n") + text.count("from torch import nn\n") == 1
    text = text.replace("import torch.nn as nn\n", "").replace("from torch import nn\n", "")
    result = graded_file(text, load_assignment("vit"), zygote, tmp_path)
    assert [one.id for one in result.mistakes] == ["import-missing"]
    assert result.score.earned == 88
    stands = standing(result)
    assert stands.place is not None
    assert "nn" in stands.place.marked[0].text
