"""How late something was handed in, and what the assignment's policy says of it. Imports no torch."""

from __future__ import annotations

from datetime import datetime

from .document import Frozen


class Lateness(Frozen):
    """The policy takes ``percent`` of the points possible or earned; this record alone takes nothing."""

    submitted: datetime
    due: datetime  # with the extra time of this student
    minutes: int = 0  # late; 0 within the grace
    days: int = 0  # begun
    free_days: int = 0  # of those, from the budget
    percent: float = 0.0
    of: str = "possible"

    def points(self, possible: float, earned: float) -> float:
        """What the policy takes, which is no more than was earned."""
        whole = possible if self.of == "possible" else earned
        return round(min(self.percent / 100 * whole, earned), 2)
