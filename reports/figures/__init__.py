"""Figures: of a stage, from the arrays that were kept while it was graded, and of the marks of a class."""

from __future__ import annotations

from .by_stage import figures, picture
from .histograms import histogram
from .kept import Arrays
from .shapes import Figure, Histogram

__all__ = ["Arrays", "Figure", "Histogram", "figures", "histogram", "picture"]
