"""What a student's page costs: its arrays while grading, rendering, bytes, requests; and what axe finds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

from axe_playwright_python.sync_playwright import Axe
from common import ASSIGNMENT, TESTS, show
from test_examples import FOLDER

from vitcheck.checks import assembling
from vitcheck.checks.examination import Examination
from vitcheck.checks.grading import grade
from vitcheck.checks.kept.arrays import kept_arrays
from vitcheck.reports import render_report
from vitcheck.submissions.process import Zygote

sys.path.insert(0, str(TESTS / "reports"))

from chromium import launched
from test_browser import GUIDELINES, UNFOLD

_NAMES = ("fused_attention.py", "two_mistakes.py", "script.py", "syntax_error.py")
_TIMES = 5


def milliseconds(work: Callable[[], object]) -> float:
    """The median of processor time, after one more that warms up."""
    taken = []
    for _ in range(1 + _TIMES):
        began = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - began))
    return median(taken[1:])


def row(name: str, zygote: Zygote) -> tuple[object, ...]:
    """Keeping is measured within a grading."""
    keeping: list[float] = []

    def timed(models: Sequence[Examination]) -> bytes | None:
        keeping.append(milliseconds(lambda: kept_arrays(models)))
        return kept_arrays(models)

    with patch.object(assembling, "kept_arrays", timed):
        result = grade(FOLDER / name, ASSIGNMENT, zygote=zygote, seed=7)
    page = render_report(result)
    rendering = milliseconds(lambda: render_report(result))
    sizes = (len(result.arrays or b""), len(page.encode()))
    return name, sum(keeping), rendering, *(one / 1000 for one in sizes), *looked_at(page)


def looked_at(page: str) -> tuple[int, int]:
    """Requests beside the page itself, and what axe finds with all stages unfolded."""
    with TemporaryDirectory() as folder, launched() as browser:
        path, tab, asked = Path(folder) / "page.html", browser.new_page(), []
        path.write_text(page, "utf-8")
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        tab.evaluate(UNFOLD)
        requests = [url for url in asked if not url.startswith(("data:", path.as_uri()))]
        return len(requests), Axe().run(tab, options=GUIDELINES).violations_count


if __name__ == "__main__":
    with Zygote() as started:
        show(
            ("submission", "keeping, ms", "rendering, ms", "arrays, kB", "page, kB", "requests", "axe"),
            [row(name, started) for name in _NAMES],
        )
