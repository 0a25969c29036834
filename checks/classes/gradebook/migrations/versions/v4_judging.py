"""By what a run judged, apart from points and texts: with other points its results are only scored anew."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Add the column; of earlier runs it is empty, and nothing is taken from them."""
    op.add_column("runs", sa.Column("judging_digest", sa.String))
    op.create_index("ix_runs_judging_digest", "runs", ["judging_digest"])
