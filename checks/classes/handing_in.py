"""How late the submissions of a class are, by what the gradebook knows of them."""

from __future__ import annotations

from ..assignment.asked_late import LatePolicy
from ..points.late import lateness
from ..record.adjustment import Adjustment
from ..record.lateness import Lateness
from .gradebook.store import Gradebook


class LatenessOf:
    """Says it of each submission of an assignment, by this policy: None where it is not known."""

    def __init__(self, gradebook: Gradebook, assignment: str, policy: LatePolicy | None) -> None:
        self._policy = policy
        self._times = gradebook.times(assignment)
        self._days_used = gradebook.late_days_used(assignment)

    @classmethod
    def as_graded(cls, gradebook: Gradebook, assignment: str) -> LatenessOf:
        """By the policy with which the assignment was graded last."""
        kept = gradebook.late_policy(assignment)
        return cls(gradebook, assignment, LatePolicy.model_validate_json(kept) if kept else None)

    def of(self, name: str, adjustment: Adjustment) -> Lateness | None:
        """With the extra time that this adjustment grants."""
        if self._policy is None or name not in self._times:
            return None
        used, extra = self._days_used.get(name, 0), adjustment.extra_hours
        return lateness(self._policy, self._times[name], extra_hours=extra, days_used=used)
