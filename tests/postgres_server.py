"""A PostgreSQL server of the tests' own, which goes when they end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

_USER = "postgres"  # of the database; and of the system where tests run as root, which servers refuse


@contextmanager
def server() -> Iterator[str]:
    """Yield the URL of a server without TCP; skip the test where none is installed."""
    initdb, pg_ctl = (_program(name) for name in ("initdb", "pg_ctl"))
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL's server is not installed: there is no initdb and pg_ctl")
    folder = Path(tempfile.mkdtemp(prefix="vitcheck-pg-"))  # short, as the path of a socket must be
    user = _USER if os.getuid() == 0 else None
    if user:
        shutil.chown(folder, user)

    def run(*command: object) -> None:
        words = list(map(str, command))
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, user=user)

    try:
        run(initdb, "-D", folder / "data", "-U", _USER, "-A", "trust", "--no-sync")
        run(pg_ctl, "-D", folder / "data", "-o", f"-k {folder} -h '' -F", "-l", folder / "log", "-w", "start")
        try:
            yield f"postgresql://{_USER}@/postgres?host={folder}"
        finally:
            run(pg_ctl, "-D", folder / "data", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder)


def new_database(url: str) -> str:
    """Make an empty database on the server at ``url``, and return its own URL."""
    name = f"grades_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return url.replace("/postgres?", f"/{name}?")


def _program(name: str) -> Path | None:
    """Where Debian keeps them, which is not on PATH, or else on PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    on_path = shutil.which(name)
    return found[-1] if found else Path(on_path) if on_path else None
