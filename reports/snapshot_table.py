"""A snapshot for a terminal: a line for each stage."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..checks.record.snapshot import Snapshot
from .terminal import STYLES, told
from .views.snapshot_view import snapshot_view, wording_of
from .views.stage_views import StageView, State
from .words.numbers import Slice, shape_text
from .words.quoting import Quoted, named
from .words.standing import pass_findings
from .words.wording import say

_UNSEEN = (State.NOT_REACHED, State.NOT_APPLICABLE)
_SHOWN = 2  # numbers of a tensor
_LINE = 22  # characters of a place in the code: its end tells more


def snapshot_table(snapshot: Snapshot) -> RenderableType:
    """Each stage with its axes, its first numbers and the line of code, and what is wrong or was not found.

    Says the same without colour. Holds no control character that a student wrote.
    """
    with wording_of(snapshot):
        view = snapshot_view(snapshot)
        heading = named(view.title, Text.assemble((view.title, "bold"), f" · {view.assignment}"))
        lead = Quoted(Text(view.lead, style="dim"), begun=True)  # the name of the picture stands in it
        stands = next(pass_findings(snapshot), None)
        return Group(heading, lead, Text(), *(told(stands) if stands else ()), *_table(view.seen.stages))


def _table(stages: tuple[StageView, ...]) -> Iterator[RenderableType]:
    """Nothing where the code never came to a pass."""
    if not stages:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, expand=True)
    table.add_column(say("table.stage"), no_wrap=True)
    table.add_column(no_wrap=True, ratio=1)  # the title gives way where there is little room
    table.add_column(say("table.shape"), no_wrap=True)
    table.add_column(say("table.values"), style="dim", no_wrap=True)
    table.add_column(say("table.line"), style="cyan", no_wrap=True)
    for stage in stages:
        sign = Text(f"{stage.state.sign} {stage.label}", STYLES[stage.state])
        table.add_row(sign, stage.title, *_seen(stage))
    yield Text()
    yield table
    yield from _missing(stages)


def _missing(stages: tuple[StageView, ...]) -> Iterator[RenderableType]:
    """Why stages were not seen."""
    for stage in stages:
        if not stage.seen or stage.state in _UNSEEN:
            why = stage.message or stage.evidence
            yield Text()
            yield Quoted(Text(f"{stage.label} {stage.title}, {stage.state.word}: {why}"), begun=True)


def _seen(stage: StageView) -> tuple[Text, ...]:
    """What was seen, if anything was."""
    if not stage.seen or stage.state in _UNSEEN:
        return (Text(stage.state.word),)
    line = Text(_end(stage.place.short) if stage.place else "")
    return Text(shape_text(stage.seen)), Text(_first(stage.values)), line


def _end(place: str) -> str:
    """In one row, or the next one would begin with it."""
    return place if len(place) <= _LINE else f"…{place[1 - _LINE :]}"


def _first(values: Slice | None) -> str:
    """The first numbers of its first row, and dots where there are more."""
    row = [cell.seen for cell in values.cells[0]] if values else []
    return " ".join([*row[:_SHOWN], *(["…"] if len(row) > _SHOWN else [])])
