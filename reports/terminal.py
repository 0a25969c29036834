"""The verdict on one submission, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from ..checks.record.faults import to_write
from ..checks.record.result import Result
from .views.stage_views import StageView, State, pipeline, states_of
from .words.assigned import assigned
from .words.location_view import LocationView
from .words.quoting import Quoted, named
from .words.standing import Standing, findings, so_far, standing
from .words.text import NAME_LIMIT, one_line, points
from .words.wording import say

STYLES = {
    State.PASSED: "green",
    State.IMPLIED: "green",
    State.FAILED: "bold red",
    State.NOT_REACHED: "yellow",
    State.NOT_APPLICABLE: "dim",
    State.NOT_WRITTEN: "dim",
}
_MOST = 5  # further things wrong that have a line
_TONES = {
    "unfinished": ("○", "bold yellow"),
    "right": ("✓", "bold green"),
    "wrong": ("✗", "bold red"),
    "stopped": ("!", "bold yellow"),
}


def verdict(result: Result) -> RenderableType:
    """The score, the first thing wrong with its line of code and question, and a sign for each stage.

    Says the same without colour. Holds no control character that a student wrote, and no line begins with
    words of theirs.
    """
    stages = pipeline(result)
    return Group(_score(result), Text(), *told(standing(result)), *_more(result), *_strip(stages))


def _score(result: Result) -> RenderableType:
    earned, possible = points(result.score.earned), points(result.score.possible)
    far = points(so_far(result))
    key = "terminal.so_far" if to_write(result) else "terminal.score"
    score = say(key, earned=earned, possible=possible, so_far=far)
    told = (one_line(note.text) for note in result.notes if note.kind in ("part", "unearned"))
    unearned = "".join(f"\n{text}" for text in told)
    name = one_line(result.submission, NAME_LIMIT)
    heading = named(name, Text.assemble((name, "bold"), f" · {assigned(result)}"))
    return Group(heading, Text.assemble(score, (unearned, "dim")))


def told(stands: Standing) -> Iterator[RenderableType]:
    """The first thing to know, what follows from it, its line of code, and the question or advice."""
    sign, style = _TONES[stands.tone]
    yield Text(f"{sign} {stands.heading}", style=style)
    yield Quoted(Text(stands.sentence)) if stands.quotes else Text(stands.sentence)
    if stands.details:
        yield Quoted(Text(stands.details, style="dim"))
    if stands.place:
        yield Text()
        yield from _code(stands.place)
    for last in (stands.question, stands.advice):
        if last:
            yield Text()
            yield Text(last, style="italic")


def _more(result: Result) -> Iterator[RenderableType]:
    """Where the first thing wrong is explained, and a line for each other that is a stage or has a name."""
    found = list(findings(result))
    others = [one for one in found[1:] if one.label or one.mistake]
    if found and found[0].mistake:
        yield Text(f"\n{say('terminal.explain', id=found[0].mistake)}", style="dim")
    if others:
        yield Text()
    for one in others[:_MOST]:
        what = f"{one.label} {one.sentence}" if one.label else one.heading
        where = f"  {one.place.short}" if one.place else ""
        yield Text(f"✗ {what}{where}", style="bold red", no_wrap=True, overflow="ellipsis")
    if len(others) > _MOST:
        yield Text(say("terminal.more", number=len(others) - _MOST), style="dim")


def _code(place: LocationView) -> Iterator[RenderableType]:
    yield named(place.short, Text(place.short, style="cyan"))
    for line in place.marked:
        yield Text(f"{line.number:>5} │ {line.text}", no_wrap=True, overflow="ellipsis")


def _strip(stages: tuple[StageView, ...]) -> Iterator[RenderableType]:
    if not stages:
        return
    yield Text()
    yield Columns(Text(f"{one.state.sign} {one.label}", STYLES[one.state]) for one in stages)
    yield Text("   ".join(f"{one.sign} {one.word}" for one in states_of(stages)), style="dim")
