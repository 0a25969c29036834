"""What an instructor decides about a submission, beside what was measured. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Adjustment:
    """``delta`` points and ``marks`` on top of those earned, or ``override`` points whatever was earned."""

    delta: float = 0.0
    override: float | None = None
    comment: str = ""  # for the student
    extra_hours: int = 0  # granted beyond the deadline
    late_days: int = 0
    marks: Mapping[str, float] = field(default_factory=dict)  # for answers in writing, by question

    def total(self, earned: float) -> float:
        """The points that count: never below 0, and of two decimals, as they are shown."""
        if self.override is not None:
            return round(self.override, 2)
        return round(max(earned + sum(self.marks.values()) + self.delta, 0.0), 2)

    def change(self, earned: float) -> float:
        """What is decided beside the marks makes of the points."""
        return round(self.total(earned) - earned - sum(self.marks.values()), 2)


UNADJUSTED = Adjustment()
