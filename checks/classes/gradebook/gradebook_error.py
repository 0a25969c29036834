"""What can go wrong with a gradebook."""

from __future__ import annotations


class GradebookError(Exception):
    """A gradebook that cannot be used; the message names it, and says why."""
