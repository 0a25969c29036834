"""What people read: everything here is rendered from result records alone."""

from __future__ import annotations

from .html import render_index, render_report, render_snapshot
from .snapshot_table import snapshot_table
from .summaries import summaries
from .tables import grades_csv, grades_json
from .terminal import verdict
from .writer import write_class, write_submission, write_whole

__all__ = [
    "grades_csv",
    "grades_json",
    "render_index",
    "render_report",
    "render_snapshot",
    "snapshot_table",
    "summaries",
    "verdict",
    "write_class",
    "write_submission",
    "write_whole",
]
