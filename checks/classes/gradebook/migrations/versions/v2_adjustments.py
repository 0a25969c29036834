"""What instructors decide: a row for each time that they do, of which the last one counts."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "adjustments",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.String, nullable=False),
        sa.Column("submission", sa.String, nullable=False),
        sa.Column("delta", sa.Double, nullable=False),
        sa.Column("override", sa.Double),
        sa.Column("comment", sa.Text, nullable=False),
        sa.Column("extra_hours", sa.Integer, nullable=False),
        sa.Column("late_days", sa.Integer, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_adjustments_assignment_submission", "adjustments", ["assignment", "submission"])
