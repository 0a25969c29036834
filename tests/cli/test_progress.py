"""What a run shows while it goes on: lines, and on a terminal a live view below them."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from samples import not_loaded, scaled_by_embed_dim

from vitcheck.progress import ClassProgress


def console(terminal: bool) -> Console:
    return Console(file=io.StringIO(), force_terminal=terminal, width=120, highlight=False, _environ={})


def shown(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_where_output_is_no_terminal_there_are_lines_and_nothing_else() -> None:
    quiet = console(terminal=False)
    with ClassProgress(quiet) as progress:
        progress.start(waiting=2, taken=0)
        progress.begun("brown-li")
        progress.done(scaled_by_embed_dim())
    assert shown(quiet) == "✗   96.5 of 100  brown-li  S12 scale-by-embed-dim\n"


def test_a_terminal_sees_what_runs_what_waits_and_what_could_not_be_graded() -> None:
    live = console(terminal=True)
    with ClassProgress(live) as progress:
        progress.start(waiting=5, taken=7)
        for name in ("diaz_2", "brown-li", "adams-zoe"):
            progress.begun(name)
        progress.done(not_loaded())
        progress._live.refresh()
    text = shown(live)
    for part in ("7 submissions unchanged", "1/5", "2 waiting", "grading adams-zoe, brown-li", "diaz_2"):
        assert part in text
    assert "not graded: diaz_2" in text


@pytest.mark.parametrize("terminal", [True, False])
def test_the_summary_counts_those_that_were_taken_too(terminal: bool) -> None:
    with ClassProgress(console(terminal)) as progress:
        progress.start(waiting=1, taken=1)
        progress.done(scaled_by_embed_dim())
        progress.taken(not_loaded())
    assert progress.summary() == "2 submissions: 0 right, 1 with something wrong, 1 that could not be graded"


def test_no_name_drives_the_terminal() -> None:
    live = console(terminal=True)
    with ClassProgress(live) as progress:
        progress.start(waiting=1, taken=0)
        progress.begun("\x1b[5m\u202eevil")
        progress._live.refresh()
    assert "\\x1b[5m\\u202eevil" in shown(live)
    assert "\x1b[5m" not in shown(live)
