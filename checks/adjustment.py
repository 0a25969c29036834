"""What an instructor decides about a submission, beside what was measured. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Adjustment:
    """``delta`` points on top of those earned, or ``override`` points whatever was earned."""

    delta: float = 0.0
    override: float | None = None
    comment: str = ""  # for the student
    extra_hours: int = 0  # granted beyond the deadline
    late_days: int = 0

    def total(self, earned: float) -> float:
        """The points that count, which are never below 0."""
        return max(earned + self.delta, 0.0) if self.override is None else self.override


UNADJUSTED = Adjustment()
