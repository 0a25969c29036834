"""The figures of a stage, drawn from the arrays that were kept while it was graded."""

from __future__ import annotations

from .by_stage import figures, picture
from .kept import Arrays
from .shapes import Figure

__all__ = ["Arrays", "Figure", "figures", "picture"]
