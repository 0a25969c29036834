"""Values of which each goes with all that stand before it. Imports no torch."""

from __future__ import annotations

from enum import Enum


class Ordered(str, Enum):
    """In the order in which they are written down."""

    def has(self, other: Ordered) -> bool:
        """Say whether ``other`` goes with it: it stands before it, or is the same."""
        order = list(type(self))
        return order.index(other) <= order.index(self)
