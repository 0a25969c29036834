"""The stages of a result, as they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ..checks.result import Evidence, Result, StageResult, StageStatus
from .numbers import Axis, Error, Slice, error, expected_axes, seen_axes, slice_of
from .places import Place, place
from .text import clean, one_line


class State(Enum):
    """How a stage stands: a name for styles, a sign that needs no colour, a word."""

    PASSED = ("passed", "✓", "right")
    IMPLIED = ("implied", "∴", "right, implied")
    FAILED = ("failed", "✗", "wrong")
    NOT_REACHED = ("not-reached", "?", "not reached")
    NOT_APPLICABLE = ("not-applicable", "-", "does not apply")

    @property
    def style(self) -> str:
        return self.value[0]

    @property
    def sign(self) -> str:
        return self.value[1]

    @property
    def word(self) -> str:
        return self.value[2]


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
    error: Error | None
    message: str
    values: Slice | None
    place: Place | None
    mistakes: tuple[str, ...]
    hint: str

    @property
    def anchor(self) -> str:
        return f"stage-{self.label}"


@dataclass(frozen=True)
class Lane:
    """A stretch of the pipeline."""

    title: str
    stages: tuple[StageView, ...]


_LANES = {
    "Image to tokens": (
        "image",
        "patches",
        "flattened_patches",
        "patch_embeddings",
        "class_token",
        "tokens",
        "positioned_tokens",
    ),
    "Block 1: attention": (
        "block_input",
        "query",
        "key",
        "value",
        "attention_scores",
        "attention_probabilities",
        "attention_context",
        "attention_output",
    ),
    "Block 1: feed-forward": (
        "post_attention_norm",
        "mlp_hidden",
        "mlp_output",
        "post_mlp_norm",
        "block_output",
    ),
    "Further blocks and the head": (
        "second_block_output",
        "last_block_output",
        "final_sequence",
        "class_representation",
        "logits",
        "class_probabilities",
    ),
}


def state(stage: StageResult) -> State:
    """Passed stages are told apart by their evidence."""
    if stage.status is StageStatus.PASSED and stage.evidence is Evidence.IMPLIED:
        return State.IMPLIED
    return State[stage.status.name]


def stage_views(result: Result) -> tuple[StageView, ...]:
    """The stages in the order of the record."""
    labels = list(result.stages)
    return tuple(_view(result, labels, index) for index in range(len(labels)))


def pipeline(result: Result) -> tuple[StageView, ...]:
    """The same, or nothing where nothing that was graded has any of them."""
    stages = stage_views(result)
    return stages if any(one.state is not State.NOT_APPLICABLE for one in stages) else ()


def lanes(stages: Sequence[StageView]) -> tuple[Lane, ...]:
    """The stages by the part of the model where they are; parts without a stage are left out."""
    known = {key: title for title, keys in _LANES.items() for key in keys}
    titles = dict.fromkeys([*_LANES, "Other stages"])
    parts = {
        title: tuple(one for one in stages if known.get(one.key, "Other stages") == title) for title in titles
    }
    return tuple(Lane(title, part) for title, part in parts.items() if part)


def _view(result: Result, labels: Sequence[str], index: int) -> StageView:
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
        place=place(stage.location),
        mistakes=tuple(map(one_line, stage.mistakes)),
        hint=one_line(stage.hint or ""),
    )


def _witness(result: Result, later: Sequence[str]) -> str | None:
    """The next stage whose tensor was found: the one that an implied stage follows from."""
    found = (label for label in later if result.stages[label].evidence is Evidence.OBSERVED)
    return next(found, None)


def _evidence(stage: StageResult, witness: str | None) -> str:
    if stage.status is StageStatus.NOT_APPLICABLE:
        return "Nothing that was graded has this stage."
    if stage.status is StageStatus.NOT_REACHED:
        return "Not looked at: what it is computed from was not found."
    if stage.evidence is Evidence.IMPLIED:
        source = one_line(witness) if witness else "what was found later"
        return f"Your code never makes this tensor; it follows from {source}."
    if stage.evidence is Evidence.ABSENT:
        return "None of the tensors that your forward pass makes is what the equation predicts."
    if stage.status is StageStatus.FAILED:
        return "Your tensor was found, and it is not what the equation predicts."
    return "Found among the tensors that your forward pass makes."
