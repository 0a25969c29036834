"""Writing reports to files: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..checks.result import Result
from .html import render_index, render_report
from .tables import grades_csv


def write_submission(result: Result, folder: Path) -> None:
    """Write ``result.json`` and ``report.html`` into the submission's own ``folder``.

    The folder is made if need be. The links of ``write_class`` hold if it is called as the submission.
    """
    _write(folder / "report.html", render_report(result))
    _write(folder / "result.json", result.to_json())


def write_class(results: Sequence[Result], folder: Path) -> None:
    """Write ``index.html`` and ``grades.csv`` into ``folder``, beside the folders of the submissions."""
    _write(folder / "grades.csv", grades_csv(results))
    _write(folder / "index.html", render_index(results))


def _write(path: Path, text: str) -> None:
    """Readers see the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8", newline="\n")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
