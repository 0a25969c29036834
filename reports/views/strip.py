"""The stages in a row, and in groups: what there is to see of them at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from ..words.standing import Standing, runs
from ..words.wording import say
from .stage_views import StageView, State


@dataclass(frozen=True)
class Strip:
    """A cell for each stage; ``summary`` says what to do, ``fixes`` are the stages that are wrong."""

    cells: tuple[StageView, ...]
    summary: str
    fixes: tuple[StageView, ...]


@dataclass(frozen=True)
class StageGroup:
    """Stages one after the other; those with a ``title`` are folded under it."""

    title: str
    state: State
    stages: tuple[StageView, ...]


def strip(stages: Sequence[StageView], stands: Standing, found: int) -> Strip | None:
    """None without stages; ``found`` is the number of findings."""
    if not stages:
        return None
    fixes = tuple(one for one in stages if one.state is State.FAILED)
    return Strip(tuple(stages), _summary(stands, found, fixes), fixes)


def _summary(stands: Standing, found: int, fixes: Sequence[StageView]) -> str:
    if found:
        return say("strip.fix" if fixes else "page.to_fix", number=found)
    return stands.brief or say("strip.right")


def grouped(stages: Sequence[StageView], fold: bool) -> tuple[StageGroup, ...]:
    """Runs of stages that stand alike, if they are to be folded; a wrong one is always by itself."""
    if not fold:
        return tuple(StageGroup("", one.state, (one,)) for one in stages)
    numbered = groupby(enumerate(stages), key=lambda one: _alike(*one))
    return tuple(_group(tuple(stage for _, stage in run)) for _, run in numbered)


def _alike(number: int, stage: StageView) -> tuple[str, int]:
    if stage.state is State.FAILED:
        return stage.state.style, number
    state = State.PASSED if stage.state is State.IMPLIED else stage.state
    return state.style, 0


def _group(stages: tuple[StageView, ...]) -> StageGroup:
    implied = all(one.state is State.IMPLIED for one in stages)
    state = stages[0].state if implied or stages[0].state is not State.IMPLIED else State.PASSED
    title = runs([one.label for one in stages]) if len(stages) > 1 else ""
    return StageGroup(title, state, stages)
