"""The verdict on one submission, for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from ..checks.record.hints import explains
from ..checks.record.result import Result
from .views.stage_views import StageView, State, pipeline, states_of
from .words.assigned import assigned
from .words.quoting import Quoted, named
from .words.scores import score_view
from .words.standing import Standing, findings, standing
from .words.text import NAME_LIMIT, one_line
from .words.wording import say

STYLES = {
    State.PASSED: "green",
    State.IMPLIED: "green",
    State.FAILED: "bold red",
    State.NOT_REACHED: "yellow",
    State.NOT_APPLICABLE: "dim",
    State.NOT_WRITTEN: "dim",
}
_TOGETHER = 5  # signs of stages
_MOST = 5  # further things wrong that have a line
_TONES = {
    "unfinished": ("○", "bold yellow"),
    "right": ("✓", "bold green"),
    "wrong": ("✗", "bold red"),
    "stopped": ("!", "bold yellow"),
}


def verdict(result: Result) -> RenderableType:
    """The score, the first thing wrong with its code and question, what else is, and a sign for each stage.

    Says the same without colour. Holds no control character that a student wrote, and no line begins with
    words of theirs.
    """
    stages = pipeline(result)
    return Group(_heading(result), *told(standing(result)), *_more(result), *_strip(stages))


def _heading(result: Result) -> RenderableType:
    """Whose, by which assignment, the score, and what of it is still to be earned."""
    name = one_line(result.submission, NAME_LIMIT)
    wrong = len(list(findings(result)))
    to_fix = f" · {say('page.to_fix', number=wrong)}" if wrong else ""
    score = score_view(result).text
    heading = Text.assemble((name, "bold"), f" · {assigned(result)} · ", (f"{score}{to_fix}", "bold"))
    notes = [one_line(note.text) for note in result.notes if note.kind in ("part", "unearned")]
    notes += [say("for_students.later")] if result.later else []
    return Group(named(name, heading), *(Text(text, style="dim") for text in notes))


def told(stands: Standing) -> Iterator[RenderableType]:
    """What is wrong, its code, what was expected and seen, and the question or advice."""
    sign, style = _TONES[stands.tone]
    yield Quoted(Text(f"{sign} {stands.claim}", style=style), begun=True)
    if not stands.claims_sentence:
        yield Quoted(Text(stands.sentence)) if stands.quotes else Text(stands.sentence)
    yield from _code(stands)
    if stands.details:
        yield Quoted(Text(stands.details, style="dim"))
    if stands.proof:
        yield Text(stands.proof, style="dim")
    yield from (Text(last, style="italic") for last in (stands.question, stands.advice) if last)


def _code(stands: Standing) -> Iterator[RenderableType]:
    """Where it is, and the lines there, the one that is meant behind an arrow."""
    where = stands.place.short if stands.place else ""
    if stands.about:
        yield Quoted(Text(" · ".join(filter(None, (stands.about, where))), style="cyan"), begun=True)
    elif where:
        yield named(where, Text(where, style="cyan"))
    for line in stands.place.lines if stands.place else ():
        text = f"{'▸' if line.marked else ' '}{line.number:>5} │ {line.text}"
        yield Text(text, style="bold" if line.marked else "dim", no_wrap=True, overflow="ellipsis")
        if line.span:
            before, part, _ = line.parts
            under = re.sub(r"\S", " ", before) + "^" * len(part)  # where there is a tab, one stays
            yield Text(f"{' ' * 7}│ {under}", style="bold", no_wrap=True, overflow="crop")


def _more(result: Result) -> Iterator[RenderableType]:
    """A line for each other thing that is wrong, and where the first is explained."""
    found = list(findings(result))
    for one in found[1 : 1 + _MOST]:
        yield Text(f"✗ {_line(one)}", style="bold red", no_wrap=True, overflow="ellipsis")
    if len(found) > 1 + _MOST:
        yield Text(say("terminal.more", number=len(found) - 1 - _MOST), style="dim")
    if found and found[0].mistake and explains(result):
        yield Text(say("terminal.explain", id=found[0].mistake), style="dim")


def _line(found: Standing) -> str:
    """The stage, the place, the mistake: what is cut where a line is full can be read at the place."""
    where = f"{found.place.short}:" if found.place else ""
    return " ".join(filter(None, (found.label, where, found.claim)))


def _strip(stages: tuple[StageView, ...]) -> Iterator[RenderableType]:
    """A sign for each stage, behind the label of the first of each few, and what the rarer signs mean."""
    if not stages:
        return
    strip = Text()
    for at, one in enumerate(stages):
        if at % _TOGETHER == 0:
            strip.append(f"{' ' if at else ''}{one.label} ")
        strip.append(one.state.sign, STYLES[one.state])
    for state in states_of(stages):
        if state not in (State.PASSED, State.FAILED):
            strip.append(f"   {state.sign} {state.word}", "dim")
    yield strip
