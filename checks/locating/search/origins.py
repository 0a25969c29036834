"""Where a tensor that does not depend on the image comes from."""

from __future__ import annotations

from dataclasses import dataclass

from ....submissions.host.trace import Reference, Trace, Value

_RANDOM = ("rand", "normal", "uniform", "bernoulli", "dropout")
_DEPTH = 40


@dataclass(frozen=True)
class Origin:
    """The leaves that a tensor was computed from, and whether random numbers went into it."""

    leaves: tuple[Value, ...]
    random: bool


def origin(trace: Trace, reference: Reference) -> Origin:
    """Follows what the child says of the operations: a hint, for naming only."""
    leaves: dict[int, Value] = {}
    random = False
    todo = [reference]
    seen: set[tuple[str, int]] = set()
    while todo and len(seen) < _DEPTH:
        one = todo.pop()
        value = trace.value(one)
        if (one.kind, one.number) in seen:
            continue
        seen.add((one.kind, one.number))
        if one.kind == "leaf":
            leaves[one.number] = value
        else:
            random = random or is_random(value.op)
            todo += value.inputs
    return Origin(tuple(leaves.values()), random)


def is_random(op: str) -> bool:
    """Does this operation draw numbers?"""
    return any(word in op for word in _RANDOM)
