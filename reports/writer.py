"""Writing reports to files: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..checks.record.result import Result
from .formats.grade_tables import grades_csv, grades_json
from .pages.html import render_index, render_marking, render_question, render_report
from .views.question_view import FOLDER, Questions, page_of
from .views.summaries import summaries

ARRAYS = "arrays.safetensors"
MARKING = "marking.html"


def write_submission(result: Result, folder: Path) -> None:
    """Write ``result.json``, ``arrays.safetensors`` and ``report.html`` into the submission's own ``folder``.

    Where questions were asked in writing, ``marking.html`` has the answers, for who marks them. The folder is
    made if need be. The links of ``write_class`` hold if it is called as the submission.
    """
    if result.arrays is None:
        (folder / ARRAYS).unlink(missing_ok=True)  # they would be those of another run
    else:
        write_whole(folder / ARRAYS, result.arrays)
    if result.written is None or not result.written.answers:
        (folder / MARKING).unlink(missing_ok=True)
    else:
        write_whole(folder / MARKING, render_marking(result).encode())
    write_whole(folder / "report.html", render_report(result).encode())
    write_whole(folder / "result.json", result.to_json().encode())


def write_for_student(told: Result, folder: Path) -> None:
    """Write ``report.html`` and ``result.json`` of what the student may see (``for_students``)."""
    write_whole(folder / "report.html", render_report(told).encode())
    write_whole(folder / "result.json", told.to_json().encode())


def write_class(results: Iterable[Result], folder: Path) -> None:
    """Write ``index.html``, ``grades.csv`` and ``grades.json`` beside the submissions, into ``folder``.

    Where answers have points, ``marking`` has a page for each question.
    Results are read once and not kept.
    """
    questions = Questions()
    rows = summaries(questions.seen(results))
    pages = {folder / page_of(view.id): render_question(view) for view in questions.views()}
    for old in {*(folder / FOLDER).glob("*.html")} - pages.keys():  # answers of who is no longer there
        old.unlink()
    for place, page in pages.items():
        write_whole(place, page.encode())
    write_whole(folder / "grades.csv", grades_csv(rows).encode())
    write_whole(folder / "grades.json", grades_json(rows).encode())
    write_whole(folder / "index.html", render_index(rows).encode())


def write_whole(path: Path, content: bytes) -> None:
    """Readers see the old file or the new one, never a part; a link or a device is written to as it is."""
    if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout must stay what it is
        path.write_bytes(content)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)  # of this name may be a link of a student's, in a folder of theirs
    try:
        with temporary.open("xb") as file:
            file.write(content)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
