"""The lines of the pipeline's drawing, as paths of SVG, each with its arrowhead."""

from __future__ import annotations

from typing import NamedTuple

from .diagram_nodes import NODE, RADIUS, WIDTH, Node, Sum

_NEAR = 24  # between rows that follow each other, in pixels
_ARC = 20  # where residual connections run
_SIDE = 5  # where the line from the column before runs
_TURN = 7  # above a box


class Path(NamedTuple):
    """A line and the triangle at its end; ``head`` is empty where the line goes on."""

    line: str
    head: str = ""


def _to(line: str, x: float, y: float, way: str) -> Path:
    """``line`` with an arrowhead whose tip is at this place."""
    sides = {"down": "l-4 -7h8z", "right": "l-7 -4v8z", "left": "l7 -4v8z"}
    return Path(line, f"M{x:g} {y:g}{sides[way]}")


def edge(source: Node, target: Node) -> Path:
    """From below to above where the rows are neighbours, else around what stands between."""
    if target.y - source.out <= _NEAR:
        turn = target.y - _TURN - 3
        line = f"M{source.middle:g} {source.out:g}V{turn:g}H{target.middle:g}V{target.y - 2:g}"
        return _to(line, target.middle, target.y, "down")
    level, right = target.y + NODE / 2, target.x + target.width
    if source.middle > right:
        line = f"M{source.middle:g} {source.out:g}V{level:g}H{right + 2:g}"
    else:
        line = f"M{source.x + source.width:g} {source.y + NODE / 2:g}H{WIDTH - 6:g}V{level:g}H{right + 2:g}"
    return _to(line, right, level, "left")


def into(source: Node | Sum, target: Sum) -> Path:
    """Down to a sum."""
    top = target.y - RADIUS
    start = source.out if isinstance(source, Node) else source.y + RADIUS
    return _to(f"M{target.x:g} {start:g}V{top - 2:g}", target.x, top, "down")


def down(source: Sum, target: Node) -> Path:
    """From a sum to the box below it."""
    line = f"M{source.x:g} {source.y + RADIUS:g}V{target.y - 2:g}"
    return _to(line, target.middle, target.y, "down")


def arc(source: Node | Sum, target: Sum) -> Path:
    """A residual connection: around all that it leaves out, at the left."""
    if isinstance(source, Node):
        start = f"M{source.x:g} {source.y + NODE / 2:g}"
    else:
        start = f"M{source.x:g} {source.y + RADIUS + 5:g}"
    bend = f"H{_ARC + 10:g}q-10 0 -10 10V{target.y - 10:g}q0 10 10 10H{target.x - RADIUS - 6:g}"
    tip = target.x - RADIUS
    return Path(start + bend, f"M{tip:g} {target.y:g}l-9 -6v12z")


def exits(last: Node, height: float) -> tuple[Path, Path]:
    """To the column at the right, and to the one below."""
    start = f"M{last.middle:g} {last.out:g}"
    return Path(f"{start}V{height - 4:g}H{WIDTH}"), Path(f"{start}V{height:g}")


def entry(first: Node, before: float) -> tuple[Path, Path]:
    """From the column at the left, which is ``before`` high, and from the one above."""
    beside = f"M0 {before - 4:g}H{_SIDE}V{first.y - 16:g}H{first.middle:g}V{first.y - 2:g}"
    stacked = f"M{first.middle:g} 0V{first.y - 2:g}"
    return _to(beside, first.middle, first.y, "down"), _to(stacked, first.middle, first.y, "down")
