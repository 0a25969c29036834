"""The boxes of the pipeline's drawing, and where they stand."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from ..words.numbers import Axis, shape_text
from .stage_views import StageView

WIDTH = 320  # of a column, in pixels: a narrow phone shows it as it is
NODE = 58  # height of a box
RADIUS = 11  # of a sum
LEFT, RIGHT = 44, 308  # between which boxes stand; residual connections run to the left of them
_TOP, _GAP = 26, 18  # above the first row, and between rows
_LINE = 12  # height of a line of a shape below a box
_SINGLE, _BETWEEN = 164, 6  # widths: of a node that stands alone, between nodes side by side
# by how many nodes share a row: letters of a title in a line, the side of a thumbnail
_LETTERS = {1: 15, 2: 11, 3: 8}
_THUMBNAIL = {1: 26, 2: 26, 3: 19}


@dataclass(frozen=True)
class Node:
    """A stage as a box; ``sources`` are labels of stages in other columns that it is computed from."""

    stage: StageView
    x: float
    y: float
    width: float
    lines: tuple[str, ...]
    sources: tuple[str, ...]
    shape: tuple[str, ...]  # in lines
    thumbnail: str
    side: float  # of the thumbnail
    is_next: bool  # to be written

    @property
    def told(self) -> str:
        """Its equation, and the line that makes it."""
        place = self.stage.place
        return f"{self.stage.equation} · {place.short}" if place else self.stage.equation

    @property
    def middle(self) -> float:
        return self.x + self.width / 2

    @property
    def bottom(self) -> float:
        return self.y + NODE

    @property
    def out(self) -> float:
        """Where lines leave it: below its shape."""
        return self.bottom + _LINE * len(self.shape) + 4


@dataclass(frozen=True)
class Sum:
    """Where a residual connection comes back, by its middle."""

    x: float
    y: float


def placed(
    rows: Sequence[Sequence[StageView]],
    summed: Collection[str],
    thumbnails: Mapping[str, str],
    unwritten: str,
) -> tuple[dict[str, Node], dict[str, Sum], float]:
    """Boxes and the sums above those of ``summed``, both by label, and the height of all."""
    nodes: dict[str, Node] = {}
    sums: dict[str, Sum] = {}
    y = float(_TOP)
    for row in rows:
        for stage in row:
            if stage.label in summed:
                sums[stage.label] = Sum((LEFT + RIGHT) / 2, y + RADIUS)
                y += 2 * RADIUS + _GAP
        for place, stage in enumerate(row):
            nodes[stage.label] = _node(stage, place, len(row), y, thumbnails, unwritten)
        y = max(nodes[one.label].out for one in row) + _GAP
    return nodes, sums, y


def sources_of(stage: StageView) -> list[str]:
    """The stages that its equation names."""
    return sorted(set(re.findall(r"(?<!\w)[A-Z]\d\d", stage.equation.split(";")[0])))


def _node(
    stage: StageView, place: int, together: int, y: float, thumbnails: Mapping[str, str], unwritten: str
) -> Node:
    room = RIGHT - LEFT
    width = _SINGLE if together == 1 else (room - (together - 1) * _BETWEEN) / together
    start = LEFT + (room - together * width - (together - 1) * _BETWEEN) / 2
    lines = wrap(stage.title, _LETTERS[min(together, 3)])
    return Node(
        stage=stage,
        x=start + place * (width + _BETWEEN),
        y=y,
        width=width,
        lines=tuple([*lines[:1], lines[1] + "…"] if len(lines) > 2 else lines),
        sources=tuple(sources_of(stage)),
        shape=_shape(stage.seen or stage.expected, together),
        thumbnail=thumbnails.get(stage.label, ""),
        side=_THUMBNAIL[min(together, 3)],
        is_next=stage.label == unwritten,
    )


def _shape(axes: Sequence[Axis], together: int) -> tuple[str, ...]:
    """In two lines where three boxes share the width."""
    if together < 3:
        return (shape_text(axes),)
    half = (len(axes) + 1) // 2
    return tuple(filter(None, (shape_text(axes[:half]), shape_text(axes[half:]))))
