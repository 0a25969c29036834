"""The checks of a result, as they are shown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from math import prod

from ...checks.record.result import CheckResult, Outcome, Result
from ..words.text import TEXT_LIMIT, clean, one_line, points
from ..words.wording import say
from .stage_views import State

_LOOKS = {
    Outcome.PASSED: State.PASSED,
    **dict.fromkeys((Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT), State.FAILED),
    **dict.fromkeys((Outcome.NOT_REACHED, Outcome.MISSING), State.NOT_REACHED),
    Outcome.SKIPPED: State.NOT_APPLICABLE,
}
_WRONG = (Outcome.FAILED, Outcome.ERRORED, Outcome.TIMED_OUT)


@dataclass(frozen=True)
class Counterexample:
    """Sizes and a seed at which a check fails, and the command that repeats it, if there is one."""

    sizes: tuple[tuple[str, str], ...]
    command: str


@dataclass(frozen=True)
class CheckView:
    """A row of the table of checks."""

    id: str
    title: str
    style: str
    sign: str
    word: str
    points: str
    message: str
    example: Counterexample | None


@dataclass(frozen=True)
class CheckGroup:
    """The checks of one stage, or those of the whole model; ``anchor`` is the stage's section or empty."""

    title: str
    anchor: str
    checks: tuple[CheckView, ...]


def check_groups(result: Result, anchors: Mapping[str, str]) -> tuple[CheckGroup, ...]:
    """All checks by what they are about, stages first; what those that failed say is told as a finding."""
    order = {label: index for index, label in enumerate(result.stages)}
    ordered = sorted(result.checks, key=lambda one: order.get(one.stage or "", len(order)))
    return tuple(
        CheckGroup(one_line(title), anchors.get(title, ""), tuple(map(_check, mine)))
        for title, mine in groupby(ordered, key=_group)
    )


def tally(groups: Iterable[CheckGroup]) -> str:
    """How many ended in which way, such as "70 passed, 5 skipped"."""
    words = Counter(check.word for group in groups for check in group.checks)
    return ", ".join(f"{number} {word}" for word, number in words.most_common())


def smallest_example(result: Result, label: str) -> Counterexample | None:
    """The one with the smallest sizes at which a check of a stage fails."""
    failed = (one.counterexample for one in result.checks if one.stage == label and one.outcome in _WRONG)
    return _example(min(filter(None, failed), key=_size, default=None))


def _size(example: Mapping[str, object]) -> int:
    return prod(one for name, one in example.items() if isinstance(one, int) and name != "seed")


def _group(check: CheckResult) -> str:
    """Its stage, or what else it is about."""
    is_part = check.id.startswith(("component[", "exercise["))
    return check.stage or say("checks.parts" if is_part else "checks.model")


def _check(check: CheckResult) -> CheckView:
    look = _LOOKS[check.outcome]
    return CheckView(
        id=one_line(check.id),
        title=one_line(check.title),
        style=look.style,
        sign=look.sign,
        word=say(f"outcome.{check.outcome.value}"),
        points=say("checks.earned", earned=points(check.earned), points=points(check.points)),
        message="" if check.outcome in _WRONG else clean(check.message),
        example=_example(check.counterexample),
    )


def _example(counterexample: Mapping[str, object] | None) -> Counterexample | None:
    if not counterexample:
        return None
    sizes = {name: value for name, value in counterexample.items() if name != "command"}
    command = str(counterexample.get("command", ""))
    return Counterexample(
        tuple((one_line(name), _json(value)) for name, value in sizes.items()), one_line(command, TEXT_LIMIT)
    )


def _json(value: object) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
