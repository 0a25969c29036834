"""Runs, and the attempts that were graded in them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "runs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("started", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended", sa.DateTime(timezone=True)),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("assignment", sa.String, nullable=False),
        sa.Column("assignment_digest", sa.String, nullable=False),
        sa.Column("class_digest", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("isolation", sa.String, nullable=False),
        sa.Column("forced", sa.Boolean, nullable=False),
    )
    op.create_index("ix_runs_assignment_digest", "runs", ["assignment_digest"])
    op.create_table(
        "attempts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("run_id", sa.Integer, sa.ForeignKey("runs.id"), nullable=False),
        sa.Column("submission", sa.String, nullable=False),
        sa.Column("content_digest", sa.String, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("earned", sa.Double, nullable=False),
        sa.Column("possible", sa.Double, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.Column("arrays", sa.LargeBinary),
        sa.UniqueConstraint("run_id", "submission", name="uq_attempts_run_submission"),
    )
