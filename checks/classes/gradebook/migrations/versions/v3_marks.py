"""What a person gives for answers in writing, beside the other decisions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "3"
down_revision = "2"


def upgrade() -> None:
    """Add the column; of earlier decisions it is empty."""
    op.add_column("adjustments", sa.Column("marks", sa.JSON, nullable=False, server_default="{}"))
