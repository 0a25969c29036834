"""Submissions that are no model but a script that shows the stages."""
