"""When submissions were handed in, and the late policy that a run was graded with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Make the table, of which the last row of a submission counts, and add the column."""
    op.create_table(
        "hand_in_times",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("assignment", sa.String, nullable=False),
        sa.Column("submission", sa.String, nullable=False),
        sa.Column("submitted", sa.DateTime(timezone=True), nullable=False),
        sa.Column("source", sa.String, nullable=False),
        sa.Column("who", sa.String, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
    )
    op.create_index("ix_hand_in_times_assignment", "hand_in_times", ["assignment"])
    op.add_column("runs", sa.Column("late", sa.Text))
