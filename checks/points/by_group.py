"""Points by groups of checks, and those of parts that are asked for alone. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..assignment.asked_parts import ASPECTS
from ..assignment.assignment import Assignment
from ..assignment.kinds import PARTS, group_of, kind_of


def points_of_groups(assignment: Assignment, ids: Sequence[str]) -> dict[str, float]:
    """Share the points of each group among those of its checks that are in ``ids``.

    What single checks are given comes off first; the others of the group share the rest evenly.
    """
    own = {name: assignment.points.checks[name] for name in ids if name in assignment.points.checks}
    own |= {name: _of_part(assignment, name) for name in ids if kind_of(name) in PARTS}
    members: dict[str, list[str]] = {}
    for name in ids:
        if group := group_of(name):
            members.setdefault(group, []).append(name)
    shares = {
        name: _share(assignment, group, names, own) for group, names in members.items() for name in names
    }
    worth = shares | own
    return {name: worth[name] for name in ids}


def _of_part(assignment: Assignment, id: str) -> float:
    """Of ``component[mlp.shape]`` or ``exercise[fuse_heads]``."""
    kind, _, rest = id.partition("[")
    name, _, aspect = rest.rstrip("]").partition(".")
    if kind == "exercise":
        return assignment.exercises[name].points
    return assignment.components[name].points * ASPECTS[aspect].share


def _share(assignment: Assignment, group: str, names: Sequence[str], own: Mapping[str, float]) -> float:
    others = sum(name not in own for name in names)
    rest = assignment.points.of(group) - sum(own.get(name, 0.0) for name in names)
    return float(max(rest, 0.0) / others) if others else 0.0
