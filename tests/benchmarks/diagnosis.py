"""How often a flawed example gets the verdict that it was written for, over many seeds."""

from __future__ import annotations

from collections import Counter

from common import arguments, grade_all, show
from test_examples import CORRECT, EXAMPLES, Verdict, failed_stages

from vitcheck.checks.record.result import Outcome, Result, Status

_COLUMNS = ("found", "first place right", "first reason right")
_Right = tuple[bool, bool, bool]  # in the order of the columns
_NOTHING: _Right = (False, False, False)


def verdict_of(result: Result, wanted: Verdict) -> _Right:
    """What is right of a result: that something is wrong, where first, and why."""
    if wanted.status is not Status.GRADED:
        return _not_graded(result, wanted)
    if wanted.checks:
        return _rules_broken(result, wanted)
    stage, id = wanted.failed[0]
    blamed, named = failed_stages(result), [one.id for one in result.mistakes]
    return bool(blamed), [label for label, _ in blamed[:1]] == [stage], named[:1] == [id]


def _not_graded(result: Result, wanted: Verdict) -> _Right:
    line = result.location.line if result.location else None
    right = result.status is wanted.status
    return right, right and line == wanted.line, (wanted.reason or "") in (result.reason or "")


def _rules_broken(result: Result, wanted: Verdict) -> _Right:
    failed = {check.id for check in result.checks if check.outcome is Outcome.FAILED}
    return bool(failed), bool(failed) and not failed_stages(result), failed == wanted.checks


def said_of(result: Result) -> str:
    """What a result says, in short."""
    failed = [check.id for check in result.checks if check.outcome is Outcome.FAILED]
    return f"{result.status.value} {failed_stages(result)} {failed} {result.reason or ''}"


def main() -> None:
    """Print what is not right, then the table."""
    options = arguments(seeds=20)
    flawed = [name for name, verdict in EXAMPLES.items() if verdict is not CORRECT]
    counts = {name: Counter[str]() for name in flawed}
    for name, seed, result in grade_all(flawed, options):
        said = _NOTHING if isinstance(result, str) else verdict_of(result, EXAMPLES[name])
        counts[name].update(column for column, one in zip(_COLUMNS, said, strict=True) if one)
        if not all(said):
            print(
                f"{name}, seed {seed}: {result if isinstance(result, str) else said_of(result)}", flush=True
            )
    head = ("submission", "gradings", *_COLUMNS)
    show(head, [(name, options.seeds, *map(row.__getitem__, _COLUMNS)) for name, row in counts.items()])


if __name__ == "__main__":
    main()
