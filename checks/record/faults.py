"""What a record calls wrong beside its stages, and what is only missing or still to be written."""

from __future__ import annotations

from collections.abc import Iterator

from .result import CheckResult, MistakeResult, Outcome, Result, StageStatus
from .snapshot import Record, named_mistake


def to_write(record: Record) -> list[str]:
    """Return the labels of the stages that are not written yet, the next one first."""
    return [label for label, one in record.stages.items() if one.status is StageStatus.NOT_WRITTEN]


def wrong_together(record: Record) -> list[list[str]]:
    """The labels of the stages that failed, in order; together those that the same line makes wrong alike.

    Left out are those that are right once others are.
    """
    follows = set(record.proof.follows if isinstance(record, Result) and record.proof else ())
    groups: dict[object, list[str]] = {}
    for label, stage in record.stages.items():
        if stage.status is StageStatus.FAILED:
            named = named_mistake(record, label, stage)
            place = stage.location or (named.location if named else None)
            alike = label if place is None else (place.file, place.line, named and named.id)
            groups.setdefault(alike, []).append(label)
    return [labels for labels in groups.values() if not follows.issuperset(labels)]


def failed_checks(result: Result) -> Iterator[CheckResult]:
    """The checks that were asked and did not pass, first what failed, then what could not be asked for it.

    What is missing or to be written makes nothing wrong.
    """
    fine = [Outcome.PASSED, Outcome.SKIPPED, Outcome.MISSING]
    if to_write(result):
        fine.append(Outcome.NOT_REACHED)
    asked = (one for one in result.checks if one.outcome not in fine)
    return iter(sorted(asked, key=lambda one: one.outcome is Outcome.NOT_REACHED))


def given_away(result: Result, check: CheckResult) -> MistakeResult | None:
    """Return the first mistake that the check shows; None where it shows none that is known."""
    shown = (one for one in result.mistakes if one.id in check.mistakes or one.stage == check.id)
    return next(shown, None)
