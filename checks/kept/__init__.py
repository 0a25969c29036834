"""What the figures of a report need, kept while grading."""
