"""What the pages cost, of a student, a picture and a class: bytes, time, requests, and what axe finds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from unittest.mock import patch

from axe_playwright_python.sync_playwright import Axe
from common import ASSIGNMENT, TESTS, show
from own_picture import painted
from test_examples import FOLDER

from vitcheck.checks.classes.tasks import Task
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.examining.passes.pictures import Picture, read_picture
from vitcheck.checks.grading import assembling
from vitcheck.checks.grading.arrays import kept_arrays
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.snapshot import Record, Snapshot
from vitcheck.checks.tools.snapshots import answer_key, trace
from vitcheck.reports.pages.html import render_index, render_report, render_snapshot
from vitcheck.reports.views.summaries import summaries
from vitcheck.submissions.host.process import Zygote

sys.path.insert(0, str(TESTS / "reports"))

from chromium import launched
from classes_drawn import drawn_class
from test_browser import GUIDELINES, UNFOLD

_NAMES = ("fused_attention.py", "two_mistakes.py", "script.py", "syntax_error.py")
_TIMES = 5
_CLASSES = (10, 200, 2000)
_STAGES = 26

# Each gives milliseconds on the clock, the drawing of the page included.
_DRAWN = "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_INTERACTIVE = f"async () => {{ {_DRAWN}; return performance.now(); }}"
_FILTER = f"""async () => {{
  const [text, began] = [document.querySelector("[name=text]"), performance.now()];
  text.value = "student-0001";
  text.dispatchEvent(new Event("input", {{ bubbles: true }}));
  {_DRAWN};
  return performance.now() - began;
}}"""
_SORT = f"""async () => {{
  const began = performance.now();
  document.querySelectorAll(".class th button")[1].click();
  {_DRAWN};
  return performance.now() - began;
}}"""


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
    return name, sum(keeping), *rendered(result, lambda: render_report(result))


def snapshot_row(name: str, make: Callable[[], Snapshot]) -> tuple[object, ...]:
    """Of a picture at the assignment's full size, with the processor seconds of this process alone."""
    began = time.process_time()
    snapshot = make()
    seconds = time.process_time() - began
    return name, seconds, *rendered(snapshot, lambda: render_snapshot(snapshot))


def traces(picture: Picture, zygote: Zygote) -> Iterator[tuple[object, ...]]:
    for name in _NAMES:
        make = partial(trace, FOLDER / name, picture, ASSIGNMENT, judge=partial(Task.grade, zygote=zygote))
        yield snapshot_row(f"trace {name}", make)


def rendered(record: Record, render: Callable[[], str]) -> tuple[float, ...]:
    """Milliseconds, kB of arrays and page, and what the browser says."""
    page = render()
    sizes = (len(record.arrays or b""), len(page.encode()))
    return milliseconds(render), *(one / 1000 for one in sizes), *looked_at(page)


def class_row(size: int) -> tuple[object, ...]:
    """The page of a class of so many."""
    rows = summaries(drawn_class(size))
    page = render_index(rows)
    rendering = milliseconds(lambda: render_index(rows))
    sheet = page.partition("<tbody>")[2].partition("</tbody>")[0]
    sizes = (len(page.encode()) / 1000, len(sheet.encode()) / (size * _STAGES))
    least = map(min, zip(*(used(page) for _ in range(_TIMES))))  # other work on the machine only adds
    return size, rendering, *sizes, *least, *looked_at(page)


def used(page: str) -> tuple[float, ...]:
    """Milliseconds: of its thread's processor time, and on the clock until it is drawn, filtered, sorted."""
    with TemporaryDirectory() as folder, launched() as browser:
        path, tab = Path(folder) / "page.html", browser.new_page()
        path.write_text(page, "utf-8")
        session = tab.context.new_cdp_session(tab)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        tab.goto(path.as_uri())
        interactive = tab.evaluate(_INTERACTIVE)
        metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
        return 1000 * metrics["TaskDuration"], interactive, tab.evaluate(_FILTER), tab.evaluate(_SORT)


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
        with TemporaryDirectory() as place:
            sun = read_picture(painted(Path(place)))
        show(
            (
                "picture at full size",
                "making, s",
                "rendering, ms",
                "arrays, kB",
                "page, kB",
                "requests",
                "axe",
            ),
            [snapshot_row("snapshot", partial(answer_key, sun, ASSIGNMENT)), *traces(sun, started)],
        )
    show(
        (
            "class of",
            "rendering, ms",
            "page, kB",
            "bytes a cell",
            "thread, ms",
            "interactive, ms",
            "filter, ms",
            "sort, ms",
            "requests",
            "axe",
        ),
        map(class_row, _CLASSES),
    )
