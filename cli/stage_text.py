"""One stage of a result, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from vitcheck.checks.record.result import Result
from vitcheck.reports.views.stage_views import StageView, stage_views
from vitcheck.reports.words.numbers import shape_text
from vitcheck.reports.words.quoting import Quoted


def stage_text(result: Result, label: str) -> RenderableType:
    """Say what was expected at the stage with this label, what was seen, and the question that helps."""
    stage = next(one for one in stage_views(result) if one.label == label)
    heading = Text(f"{stage.state.sign} {stage.label}: {stage.title}, {stage.state.word}\n", style="bold")
    rows = (Quoted(Text(f"{name:<10}{text}"), begun=True) for name, text in _rows(stage) if text)
    return Group(heading, *rows, *_code(stage), *_closing(stage))


def _rows(stage: StageView) -> Iterator[tuple[str, str]]:
    yield "equation", stage.equation
    yield "expected", shape_text(stage.expected)
    yield "seen", shape_text(stage.seen)
    yield "error", stage.error
    yield "mistake", ", or ".join(stage.mistakes)
    yield "line", stage.place.short if stage.place else ""


def _code(stage: StageView) -> Iterator[Text]:
    for line in stage.place.marked if stage.place else ():
        yield Text(f"{line.number:>8}  {line.text}", no_wrap=True, overflow="ellipsis")


def _closing(stage: StageView) -> Iterator[RenderableType]:
    if stage.evidence:
        yield Text(f"\n{stage.evidence}")
    if stage.message:
        yield from (Text(), Quoted(Text(stage.message)))
    if stage.hint:
        yield Text(f"\n{stage.hint}")
