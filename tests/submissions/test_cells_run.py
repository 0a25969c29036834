"""Of all that was run in a notebook, what a class needs is handed in, and nothing else."""

from __future__ import annotations

from vitcheck.submissions.reading.cells_run import Cells, cells_run
from vitcheck.submissions.reading.notebooks import cells


def kept(*texts: str, name: str = "ViT") -> dict[int, str]:
    """The cells that are not empty, by their numbers."""
    handed = Cells(texts).hand_in(name)
    ((file, content),) = handed.files.items()
    code = cells(file, content)
    return {number: text.decode() for number, text in enumerate(code.values(), start=1) if text.strip()}


def test_a_later_definition_takes_the_place_of_an_earlier_one() -> None:
    assert kept("class ViT:\n    a = 1", "x = 1", "class ViT:\n    a = 2") == {3: "class ViT:\n    a = 2"}


def test_no_line_moves_where_something_is_left_out() -> None:
    text = "import math\n@final\nclass ViT:\n    a = 1\nDEPTH = 3"
    later = "class ViT:\n    depth = DEPTH + math.pi"
    assert kept(text, later) == {1: "import math\n\n\n\nDEPTH = 3", 2: later}


def test_what_the_class_uses_is_kept_by_whatever_way() -> None:
    cells = [
        "from torch import *",
        "import torch.nn.functional as F",
        "CONFIG = {}",
        "CONFIG['dim'] = SIZE",
        "CONFIG.update(heads=2)",
        "for i in range(3):\n    SIZE = i",
        "def helper(): return CONFIG",
        "class ViT:\n    def forward(self, x): return F.gelu(helper())",
    ]
    assert kept(*cells) == dict(enumerate(cells, start=1))


def test_experiments_around_it_are_left_out() -> None:
    assert kept(
        "model = ViT()",
        "class ViT:\n    pass\n\nprint(ViT())",
        "class Other:\n    def forward(self): print('S12')  # BREAKPOINT S12",
        "vitcheck.check(ViT)",
    ) == {2: "class ViT:\n    pass\n\n"}


def test_magics_and_what_is_no_python_are_left_out() -> None:
    text = "%matplotlib inline\n!pip install torch\nclass ViT:\n    x = 1"
    assert kept("class ViT(:", "%%bash\nclass ViT", text) == {3: "\n\nclass ViT:\n    x = 1"}


def test_without_ipython_there_are_no_cells() -> None:
    assert cells_run().texts == []
