"""What a report costs: a process of its own for each file, beside what grading the code takes."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from common import ASSIGNMENT, show
from test_examples import FOLDER
from written_reports import KINDS

from vitcheck.checks.grading.grading import grade
from vitcheck.checks.written.examining import Written
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.sandbox.isolation import Isolation, open_sandbox
from vitcheck.submissions.written.reading import read_documents

_TIMES = 5


def row(name: str, zygote: Zygote) -> tuple[object, ...]:
    """Seconds to read one report, to look through it, and to grade code that lies beside it."""
    assert ASSIGNMENT.written is not None
    reading, looking, grading = [], [], []
    with TemporaryDirectory() as place:
        folder = Path(place)
        (folder / name).write_bytes(KINDS[name]())
        for _ in range(1 + _TIMES):
            began = time.perf_counter()
            documents = read_documents(folder, zygote)
            read = time.perf_counter()
            Written(documents, ASSIGNMENT, ASSIGNMENT.written).record({})
            reading.append(read - began)
            looking.append(time.perf_counter() - read)
        (folder / "vit.py").write_bytes((FOLDER / "report_block.py").read_bytes())
        for _ in range(2):
            began = time.perf_counter()
            grade(folder, ASSIGNMENT, zygote=zygote, seed=7)
            grading.append(time.perf_counter() - began)
    return name, *(median(one[1:]) for one in (reading, looking, grading))


if __name__ == "__main__":
    with Zygote(sandbox=open_sandbox(Isolation.AUTO)) as started:
        show(
            ("report", "reading, s", "looking through, s", "grading all, s"),
            [row(name, started) for name in KINDS if name != "report.ipynb"],
        )
