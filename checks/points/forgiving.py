"""Which checks that could not be asked of a submission cost their points.

What the assignment does not ask is asked of nobody, and its points go to the other checks. What could not be
asked because of how the code is written is no fault, but shows nothing that earns points either: the other
checks of its group stand for it within bounds, and beyond them it was not reached. Imports no torch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from ..assignment.kinds import kind_of
from ..record.result import CheckResult, Note, Outcome

_FORGIVEN = 0.2  # of the points of a group: right programs have up to five of thirty properties skipped
_ROUNDING = 1e-9  # points are sums of shares such as 8 / 26
_BEYOND = "too many checks of this kind could not run: more than a fifth of their points"


def as_ended(check: CheckResult) -> CheckResult:
    """Return the check as it ended, before points made anything of it."""
    if check.ended is None:
        return check
    message = check.message.removesuffix(f"; {_BEYOND}")
    return check.model_copy(update={"outcome": check.ended, "ended": None, "message": message})


def forgiven(points: Mapping[str, float], checks: Sequence[CheckResult]) -> list[CheckResult]:
    """These checks, with what was skipped beyond the bounds as not reached."""
    worth: dict[str, float] = {}
    for check in checks:
        kind = kind_of(check.id)
        worth[kind] = worth.get(kind, 0.0) + (points[check.id] if check.asked else 0.0)
    left = {kind: _FORGIVEN * amount for kind, amount in worth.items()}
    return [_settled(one, points[one.id], left) for one in checks]


def _settled(one: CheckResult, worth: float, left: dict[str, float]) -> CheckResult:
    """``left`` is what may still be forgiven in each kind of checks."""
    kind = kind_of(one.id)
    if one.outcome is not Outcome.SKIPPED or not one.asked:
        return one
    if worth > left[kind] + _ROUNDING:
        message = f"{one.message}; {_BEYOND}"
        return one.model_copy(
            update={"outcome": Outcome.NOT_REACHED, "ended": Outcome.SKIPPED, "message": message}
        )
    left[kind] -= worth
    return one


def unearned(points: Mapping[str, float], settled: Sequence[CheckResult]) -> Iterator[Note]:
    """What ``forgiven`` made not reached, where that costs points, what is missing, and what erred."""
    lost = Counter(kind_of(one.id) for one in settled if one.ended is not None)
    for kind, number in lost.items():
        amount = sum(points[one.id] for one in settled if one.ended is not None and kind_of(one.id) == kind)
        checks = f"{number} check{'s' if number > 1 else ''} of the kind `{kind}` could not run on this code"
        yield _note(f"{checks}, more than is forgiven", amount)
    if wanting := [one for one in settled if one.outcome is Outcome.MISSING]:
        said = wanting[0].message if len(wanting) == 1 else _several(wanting)
        yield _note(f"{said[:1].upper()}{said[1:]}", sum(points[one.id] for one in wanting))
    if erred := [one.id for one in settled if one.outcome is Outcome.ERRORED]:
        more = f" and {len(erred) - 1} more" if len(erred) > 1 else ""
        yield _note(f"The check {erred[0]}{more} ended with an error", sum(points[id] for id in erred))


def _note(what: str, amount: float) -> Note:
    return Note(kind="unearned", text=f"{what}: {amount:.2f} points are not earned.")


def _several(wanting: Sequence[CheckResult]) -> str:
    return f"{wanting[0].message}, and {len(wanting) - 1} more are missing"
