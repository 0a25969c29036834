"""Beside grading: starting and trying a course, measuring vitcheck itself, comparing submissions."""
