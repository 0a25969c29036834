"""What an instructor decided about a submission, in words and in points."""

from __future__ import annotations

from collections.abc import Iterator

from ...checks.record.adjustment import Adjustment
from .text import one_line, points
from .wording import count, say


def remark(adjustment: Adjustment) -> str:
    """Such as "adjusted by +3, 2 late days: the reason"; empty where nothing was decided."""
    decided = ", ".join(_decided(adjustment))
    return ": ".join(part for part in (decided, one_line(adjustment.comment)) if part)


def released(up_to: str) -> str:
    """That the student was given what [visibility] shows up to this moment."""
    return say(f"released.{up_to}")


def _decided(adjustment: Adjustment) -> Iterator[str]:
    if adjustment.override is not None:
        yield say("remark.set", points=points(adjustment.override))
    elif adjustment.delta:
        sign = "+" if adjustment.delta > 0 else "-"
        yield say("remark.adjusted", points=f"{sign}{points(abs(adjustment.delta))}")
    if adjustment.marks:
        given = (f"{one_line(id)} {points(mark)}" for id, mark in sorted(adjustment.marks.items()))
        yield say("remark.marked", answers=say("remark.and").join(given))
    if adjustment.extra_hours:
        yield say("remark.extra_time", hours=adjustment.extra_hours)
    if adjustment.late_days:
        yield count(adjustment.late_days, "late_day")
