"""What alembic runs: the changes that are missing, within the transaction of whoever opens the gradebook."""

from __future__ import annotations

from alembic import context

from vitcheck.checks.classes.gradebook.tables import VERSION_TABLE  # alembic loads this file by its path

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
