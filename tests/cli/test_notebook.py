"""vitcheck in a real notebook, with a kernel of its own."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import psutil
import pytest
from nbclient import NotebookClient

EXAMPLE = Path(__file__).parents[2] / "submissions" / "examples" / "scale_by_width.py"
MODEL = EXAMPLE.read_text(encoding="utf-8").partition("def main()")[0]
MISTAKE = "self.embed_dim ** 0.5"
CELLS = {
    "magic": "%cd .\n!true\nimport vitcheck",
    "broken": "class ViT(:",
    "other": "class ViT:\n    pass",
    "model": MODEL,
    "check": "result = vitcheck.check(ViT)\nresult",
    "loop": "import asyncio\nawait asyncio.sleep(0)\nprint(repr(vitcheck.check(ViT()))[:40])",
    "part": "vitcheck.check(MultiHeadAttention, stage='S12')",
    "mended": MODEL.replace(MISTAKE, "self.head_dim ** 0.5"),
    "again": "again = vitcheck.check(ViT)\nprint(again.score.earned, again.stages['S12'].location.file)",
    "nowhere": "exec('class Hidden: pass')\nvitcheck.check(Hidden)",
    "processes": "import psutil\nprint(*[one.pid for one in psutil.Process().children(recursive=True)])",
}


class Notebook:
    """What each cell gave."""

    def __init__(self) -> None:
        assert MODEL.count(MISTAKE) == 1
        cells = [nbformat.v4.new_code_cell(text) for text in CELLS.values()]
        notebook = nbformat.v4.new_notebook(cells=cells)
        self._cells = dict(zip(CELLS, notebook.cells))
        NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()

    def outputs(self, cell: str) -> list[nbformat.NotebookNode]:
        return list(self._cells[cell].outputs)

    def printed(self, cell: str) -> str:
        return "".join(one.get("text", "") for one in self.outputs(cell))

    def shown(self, cell: str) -> dict[str, str]:
        """The value that the cell ends in."""
        values = [one.data for one in self.outputs(cell) if one.output_type == "execute_result"]
        assert len(values) == 1
        return dict(values[0])


@pytest.fixture(scope="module")
def notebook() -> Iterator[Notebook]:
    """Run it once for all tests."""
    loop = asyncio.new_event_loop()  # nbclient would make one, and leave it open
    asyncio.set_event_loop(loop)
    yield Notebook()
    asyncio.set_event_loop(None)
    loop.close()


def test_a_class_from_the_cells_is_graded_and_drawn(notebook: Notebook) -> None:
    shown = notebook.shown("check")
    assert "\nS12 Attention scores · " in shown["text/plain"]
    assert "notebook.ipynb[4], line" in shown["text/html"]
    assert MISTAKE in re.sub("</?mark[^>]*>|</?u[^>]*>", "", shown["text/html"])  # of which a part is marked
    assert "</svg>" in shown["text/html"]


def test_an_instance_is_graded_while_a_loop_runs(notebook: Notebook) -> None:
    assert notebook.printed("loop").startswith("ViT · vit (")


def test_a_part_is_graded_alone(notebook: Notebook) -> None:
    assert notebook.shown("part")["text/plain"].startswith("✗ S12: Attention scores, wrong")


def test_the_last_definition_counts(notebook: Notebook) -> None:
    assert notebook.printed("again") == "100.0 notebook.ipynb[8]\n"


def test_what_has_no_source_says_what_to_do(notebook: Notebook) -> None:
    (error,) = notebook.outputs("nowhere")
    assert error.ename == "NoSourceError"
    assert "the code of Hidden was not found: write it into a cell or a .py file" in error.evalue


def test_nothing_is_left_when_the_kernel_has_ended(notebook: Notebook) -> None:
    pids = [int(one) for one in notebook.printed("processes").split()]
    assert len(pids) >= 2  # the grader, and what it forks submissions from
    deadline = time.monotonic() + 20
    while left := [one for one in pids if psutil.pid_exists(one)]:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)
