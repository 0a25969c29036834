"""Which checks that could not be asked of a submission cost their points.

What the assignment does not ask is asked of nobody, and its points go to the other checks. What could not be
asked because of how the code is written is no fault, but shows nothing that earns points either: the other
checks of its group stand for it within bounds, and beyond them it was not reached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..assignment.kinds import kind_of
from ..examining.verdicts import CheckOutcome
from ..record.result import Note

_FORGIVEN = 0.2  # of the points of a group: right programs have up to five of thirty properties skipped
_ROUNDING = 1e-9  # points are sums of shares such as 8 / 26
_BEYOND = "too many checks of this kind could not run: more than a fifth of their points"


def forgiven(points: Mapping[str, float], outcomes: Sequence[CheckOutcome]) -> list[CheckOutcome]:
    """These outcomes, with what was skipped beyond the bounds as not reached."""
    worth: dict[str, float] = {}
    for outcome in outcomes:
        kind = kind_of(outcome.id)
        worth[kind] = worth.get(kind, 0.0) + (points[outcome.id] if outcome.asked else 0.0)
    left = {kind: _FORGIVEN * amount for kind, amount in worth.items()}
    return [_settled(one, points[one.id], left) for one in outcomes]


def _settled(one: CheckOutcome, worth: float, left: dict[str, float]) -> CheckOutcome:
    """``left`` is what may still be forgiven in each kind of checks."""
    kind = kind_of(one.id)
    if one.outcome != "skipped" or not one.asked:
        return one
    if worth > left[kind] + _ROUNDING:
        return replace(one, outcome="not_reached", message=f"{one.message}; {_BEYOND}")
    left[kind] -= worth
    return one


def unearned(
    points: Mapping[str, float], outcomes: Sequence[CheckOutcome], settled: Sequence[CheckOutcome]
) -> Iterator[Note]:
    """What ``forgiven`` made of ``outcomes``, where that costs points, what is missing, and what erred."""
    lost = [one for one, other in zip(settled, outcomes) if one.outcome != other.outcome]
    for kind, number in Counter(kind_of(one.id) for one in lost).items():
        amount = sum(points[one.id] for one in lost if kind_of(one.id) == kind)
        checks = f"{number} check{'s' if number > 1 else ''} of the kind `{kind}` could not run on this code"
        yield Note(
            kind="unearned",
            text=f"{checks}, more than is forgiven: {amount:.2f} points are not earned.",
        )
    if wanting := [one for one in settled if one.outcome == "missing"]:
        amount = sum(points[one.id] for one in wanting)
        said = wanting[0].message if len(wanting) == 1 else _several(wanting)
        yield Note(kind="unearned", text=f"{said[:1].upper()}{said[1:]}: {amount:.2f} points are not earned.")
    if erred := [one.id for one in settled if one.outcome == "errored"]:
        more = f" and {len(erred) - 1} more" if len(erred) > 1 else ""
        amount = sum(points[id] for id in erred)
        text = f"The check {erred[0]}{more} ended with an error: {amount:.2f} points are not earned."
        yield Note(kind="unearned", text=text)


def _several(wanting: Sequence[CheckOutcome]) -> str:
    return f"{wanting[0].message}, and {len(wanting) - 1} more are missing"
