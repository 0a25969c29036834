"""The rungs of the ladder of hints: the stage and the line, the question, something to try, the explanation.

Each gives away more than the one before. Imports no torch.
"""

from __future__ import annotations

from .ordered import Ordered


class Hints(Ordered):
    """The lowest rung; the ones above it are shown as well."""

    WHERE = "where"
    QUESTION = "question"
    TRY = "try"
    EXPLAIN = "explain"
