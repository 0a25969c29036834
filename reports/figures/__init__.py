"""Figures: of a stage, from the arrays that were kept while it was graded, and of the marks of a class."""
