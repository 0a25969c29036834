"""The pipeline as a drawing: a column for each part of the model, set side by side where there is room."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from ..words.wording import say
from .stage_views import StageView

WIDTH = 256  # of a column, in pixels: a narrow phone shows it as it is
_NODE, _GAP, _TOP = 58, 36, 30  # heights: of a node, between rows, above the first row
_SHAPE = 20  # height of the text below a node, from which its edges leave
_SINGLE, _BETWEEN = 168, 8  # widths: of a node that stands alone, between nodes side by side
_ASIDE = 232  # where an edge runs that passes nodes by
_LETTERS = {1: 24, 2: 15, 3: 10}  # of a title in a line, by how many nodes share the row

_PARTS = {
    "embedding": (
        ("image",),
        ("patches",),
        ("flattened_patches",),
        ("patch_embeddings", "class_token"),
        ("tokens",),
        ("positioned_tokens",),
    ),
    "attention": (
        ("block_input",),
        ("query", "key", "value"),
        ("attention_scores",),
        ("attention_probabilities",),
        ("attention_context",),
        ("attention_output",),
    ),
    "mlp": (
        ("post_attention_norm",),
        ("mlp_hidden",),
        ("mlp_output",),
        ("post_mlp_norm",),
        ("block_output",),
    ),
    "readout": (
        ("second_block_output",),
        ("last_block_output",),
        ("final_sequence",),
        ("class_representation",),
        ("logits",),
        ("class_probabilities",),
    ),
}


_PLACED = {key for rows in _PARTS.values() for row in rows for key in row}

_Rows = list[list[StageView]]


@dataclass(frozen=True)
class Node:
    """A stage as a box; ``sources`` are labels of stages in other columns that it is computed from."""

    stage: StageView
    x: float
    y: float
    width: float
    lines: tuple[str, ...]
    sources: tuple[str, ...]
    shape: str

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + _NODE


@dataclass(frozen=True)
class DiagramColumn:
    """A part of the model: its boxes, and its edges as SVG paths."""

    title: str
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[str, ...]


def columns(stages: Sequence[StageView]) -> tuple[DiagramColumn, ...]:
    """The parts of the model that have one of ``stages``."""
    known = {one.key: one for one in stages}
    parts = {
        name: [[known[key] for key in row if key in known] for row in rows] for name, rows in _PARTS.items()
    }
    parts["others"] = []
    for number, one in enumerate(stages):
        if one.key not in _PLACED:
            _place(one, stages[number + 1 :], parts)
    return tuple(_column(name, [row for row in rows if row]) for name, rows in parts.items() if any(rows))


def _place(stage: StageView, later: Sequence[StageView], parts: Mapping[str, _Rows]) -> None:
    """Another architecture's stage stands above the next that is known here, or at the end."""
    following = next((one for one in later if one.key in _PLACED), None)
    for rows in parts.values():
        for number, row in enumerate(rows):
            if following in row:
                rows.insert(number, [stage])
                return
    last = [rows for rows in parts.values() if any(rows)]
    (last[-1] if last else parts["others"]).append([stage])


def _column(name: str, rows: Sequence[Sequence[StageView]]) -> DiagramColumn:
    inside = {stage.label for row in rows for stage in row}
    nodes = {
        stage.label: _node(stage, place, len(row), number, inside)
        for number, row in enumerate(rows)
        for place, stage in enumerate(row)
    }
    edges = tuple(
        _edge(nodes[source], node)
        for node in nodes.values()
        for source in _sources(node.stage)
        if source in inside and source != node.stage.label
    )
    return DiagramColumn(
        say(f"diagram.{name}"), _TOP + len(rows) * (_NODE + _GAP), tuple(nodes.values()), edges
    )


def _sources(stage: StageView) -> list[str]:
    """The stages that its equation names."""
    return sorted(set(re.findall(r"(?<!\w)[A-Z]\d\d", stage.equation.split(";")[0])))


def _node(stage: StageView, place: int, together: int, row: int, inside: set[str]) -> Node:
    width = _SINGLE if together == 1 else (WIDTH - (together - 1) * _BETWEEN) / together
    start = (WIDTH - together * width - (together - 1) * _BETWEEN) / 2
    lines = wrap(stage.title, _LETTERS.get(together, _LETTERS[3]))
    return Node(
        stage=stage,
        x=start + place * (width + _BETWEEN),
        y=_TOP + row * (_NODE + _GAP),
        width=width,
        lines=tuple([*lines[:1], lines[1] + "…"] if len(lines) > 2 else lines),
        sources=tuple(one for one in _sources(stage) if one not in inside),
        shape=("×" if together > 2 else " × ").join(str(axis.size) for axis in stage.seen or stage.expected),
    )


def _edge(source: Node, target: Node) -> str:
    """From below to above where the rows are neighbours, else around what stands between."""
    if target.y - source.bottom <= _GAP:
        turn = target.y - 8
        return f"M{source.middle:g} {source.bottom + _SHAPE:g}V{turn:g}H{target.middle:g}V{target.y:g}"
    level = target.y + _NODE / 2
    right = target.x + target.width
    if source.middle > right:
        return f"M{source.middle:g} {source.bottom + _SHAPE:g}V{level:g}H{right:g}"
    return f"M{source.x + source.width:g} {source.y + _NODE / 2:g}H{_ASIDE}V{level:g}H{right:g}"
