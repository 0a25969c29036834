"""The rungs of the ladder of hints: the stage and the line, the question, something to try, the explanation.

Each gives away more than the one before. Imports no torch.
"""

from __future__ import annotations

from enum import Enum


class Hints(str, Enum):
    """The lowest rung; the ones above it are shown as well."""

    WHERE = "where"
    QUESTION = "question"
    TRY = "try"
    EXPLAIN = "explain"

    def has(self, other: Hints) -> bool:
        """Is that rung shown, too?"""
        order = list(Hints)
        return order.index(other) <= order.index(self)
