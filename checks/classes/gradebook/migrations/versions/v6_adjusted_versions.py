"""For which version of a file something was decided."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Add the column; of earlier decisions it is empty, and they are taken as they are."""
    op.add_column("adjustments", sa.Column("content_digest", sa.String))
