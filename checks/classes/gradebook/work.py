"""What a gradebook is asked to find and gives: work that is to be graded, and submissions as they stand."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from ...record.adjustment import UNADJUSTED, Adjustment
from .tables import Attempt, Decision


@dataclass(frozen=True)
class Work:
    """What is to be graded, and with what: where all agrees, so would the results."""

    assignment: str  # its name
    assignment_digest: str  # of all that it says, and of the checks beside it
    judging_digest: str  # of all but points and texts: where they agree, checks end the same
    contents: Mapping[str, str]  # the digest of each submission
    version: str  # of vitcheck and what it was extended by
    isolation: str
    seed: int | None = None  # None where any will do
    forced: bool = False  # nothing may be taken over
    late: str | None = None  # its late policy, as JSON
    retry: bool = False  # nor what ran out of memory

    @property
    def class_digest(self) -> str:
        """The same for the same submissions in any order."""
        return hashlib.sha256(repr(sorted(self.contents.items())).encode()).hexdigest()


@dataclass(frozen=True)
class Entry:
    """The last attempt of a submission, and the last decision about it."""

    attempt: Attempt
    decision: Decision | None

    @property
    def adjustment(self) -> Adjustment:
        """What was decided."""
        return self.decision.adjustment if self.decision else UNADJUSTED

    @property
    def outdated(self) -> bool:
        """Was it decided about another version of the file?"""
        return is_outdated(self.decision, self.attempt.content_digest)

    @property
    def total(self) -> float:
        """The points that count."""
        return self.adjustment.total(self.attempt.earned)


def is_outdated(decision: Decision | None, content_digest: str) -> bool:
    """Was something decided about another content than this?"""
    return (
        decision is not None
        and decision.adjustment != UNADJUSTED
        and decision.content_digest not in (None, content_digest)
    )
