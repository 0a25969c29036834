"""The stages of a result, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...checks.record.result import Evidence, StageResult, StageStatus
from ...checks.record.snapshot import Record
from ..words.location_view import LocationView, Shapes, place, shapes_at
from ..words.numbers import Axis, Slice, error, expected_axes, seen_axes, slice_of
from ..words.text import clean, one_line
from ..words.wording import say, words


class State(Enum):
    """How a stage stands: a name for styles, a sign that needs no colour, a word."""

    PASSED = ("passed", "✓")
    IMPLIED = ("implied", "~")
    FAILED = ("failed", "✗")
    NOT_REACHED = ("not-reached", "?")
    NOT_APPLICABLE = ("not-applicable", "-")
    NOT_WRITTEN = ("not-written", "○")

    @property
    def style(self) -> str:
        return self.value[0]

    @property
    def sign(self) -> str:
        return self.value[1]

    @property
    def word(self) -> str:
        return say(f"state.{self.style}")

    @property
    def meaning(self) -> str:
        """For a legend: the word, and what it means where that is not plain."""
        key = f"legend.{self.style}"
        return say(key) if key in words() else self.word


@dataclass(frozen=True)
class StageView:
    """A stage with everything that the report says of it; text is cleaned."""

    label: str
    key: str
    title: str
    equation: str
    axes: str
    state: State
    evidence: str
    expected: tuple[Axis, ...]
    seen: tuple[Axis, ...]
    error: str
    message: str
    values: Slice | None
    place: LocationView | None
    mistakes: tuple[str, ...]
    hint: str

    @property
    def anchor(self) -> str:
        return f"stage-{self.label}"


def state(stage: StageResult) -> State:
    """Passed stages are told apart by their evidence."""
    if stage.status is StageStatus.PASSED and stage.evidence is Evidence.IMPLIED:
        return State.IMPLIED
    return State[stage.status.name]


def stage_views(result: Record) -> tuple[StageView, ...]:
    """The stages in the order of the record."""
    labels, shapes = list(result.stages), shapes_at(result)
    return tuple(_view(result, labels, index, shapes) for index in range(len(labels)))


def pipeline(result: Record) -> tuple[StageView, ...]:
    """The same, or nothing where nothing that was graded has any of them."""
    stages = stage_views(result)
    return stages if any(one.state is not State.NOT_APPLICABLE for one in stages) else ()


def states_of(stages: Sequence[StageView]) -> tuple[State, ...]:
    """The states that any of them is in, for a legend."""
    return tuple(one for one in State if any(stage.state is one for stage in stages))


def _view(result: Record, labels: Sequence[str], index: int, shapes: Shapes) -> StageView:
    label = labels[index]
    stage = result.stages[label]
    return StageView(
        label=one_line(label),
        key=stage.key,
        title=one_line(stage.title),
        equation=one_line(stage.equation),
        axes=one_line(stage.axes),
        state=state(stage),
        evidence=_evidence(stage, _witness(result, labels[index + 1 :])),
        expected=expected_axes(stage),
        seen=seen_axes(stage),
        error=error(stage),
        message=clean(stage.message or ""),
        values=slice_of(stage),
        place=place(stage.location, shapes),
        mistakes=tuple(map(one_line, stage.mistakes)),
        hint=one_line(stage.hint or ""),
    )


def _witness(result: Record, later: Sequence[str]) -> str | None:
    """The next stage whose tensor was found: the one that an implied stage follows from."""
    found = (label for label in later if result.stages[label].evidence is Evidence.OBSERVED)
    return next(found, None)


def _evidence(stage: StageResult, witness: str | None) -> str:
    if stage.status is StageStatus.NOT_APPLICABLE:
        return say("evidence.not_applicable")
    if stage.status is StageStatus.NOT_WRITTEN:
        return say("evidence.not_written")
    if stage.status is StageStatus.NOT_REACHED:
        return say("evidence.not_reached")
    if stage.evidence is Evidence.IMPLIED:
        return say("evidence.implied", source=one_line(witness) if witness else say("evidence.later"))
    if stage.evidence is Evidence.ABSENT:
        return say("evidence.absent")
    if stage.status is StageStatus.FAILED:
        return say("evidence.wrong")
    return say("evidence.observed")
