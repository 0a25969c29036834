"""Opening a gradebook: SQLite or PostgreSQL, with its tables brought up to date."""

from __future__ import annotations

import sqlite3
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from .gradebook_error import GradebookError
from .store import Gradebook
from .tables import VERSION_TABLE

_AGAIN_SECONDS = 0.02
_WAIT_SECONDS = 60.0  # for another process that writes, which takes milliseconds
_LOCK = 0x76697463  # of PostgreSQL's advisory locks, the one that writers of gradebooks take
_MIGRATIONS = f"{__package__}:migrations"
_POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")


def open_gradebook(place: str, *, create: bool = False) -> Gradebook:
    """Open the SQLite file, or the PostgreSQL database with the URL, that is called ``place``.

    A file is made where there is none only if told to ``create``. Raises GradebookError for what is no
    gradebook, or one of a later version.
    """
    url = _url(place)
    shown = place if url.drivername == "sqlite" else url.render_as_string()  # without the password
    if url.drivername == "sqlite":
        _see_to_file(Path(place), create)
    with ExitStack() as undo:
        engine = _engine(url)
        undo.callback(engine.dispose)
        try:
            _make_ready(engine, shown)
        except DBAPIError as error:
            raise GradebookError(f"{shown} cannot be used as a gradebook: {error.orig}") from error
        undo.pop_all()
    return Gradebook(engine, shown)


def _url(place: str) -> URL:
    if "://" not in place:
        return URL.create("sqlite", database=place)
    try:
        url = make_url(place)
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise GradebookError("the URL of the gradebook must be like postgresql://user@host/grades") from error
    if url.drivername not in _POSTGRES:
        raise GradebookError(
            f"a gradebook is an SQLite file, named by its path, or a PostgreSQL database, such as"
            f" postgresql://user@host/grades; {url.drivername} is neither"
        )
    return url.set(drivername="postgresql+psycopg")


def _see_to_file(file: Path, create: bool) -> None:
    if create:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise GradebookError(f"the folder of {file} cannot be made: {error.strerror}") from error
    elif not file.is_file():
        raise GradebookError(f"there is no gradebook {file}; `vitcheck grade` makes one in its folder --out")


def _engine(url: URL) -> Engine:
    """Transactions of an engine with the option ``writes`` wait for each other from their beginning on."""
    try:
        options = {"timeout": _WAIT_SECONDS} if url.drivername == "sqlite" else {}
        engine = create_engine(url, connect_args=options, pool_pre_ping=True)  # a server hangs up on the idle
    except ModuleNotFoundError as error:
        raise GradebookError('PostgreSQL needs one more package: pip install "vitcheck[postgres]"') from error
    if url.drivername == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    connection.execute("PRAGMA foreign_keys = ON")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("writes", False)
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
    elif writes:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")


def _make_ready(engine: Engine, shown: str) -> None:
    with engine.execution_options(writes=True).begin() as connection:
        _bring_up_to_date(connection, shown)
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:  # outside a transaction; the file remembers it
            _keep_readers_apart(connection.connection, shown)


def _keep_readers_apart(connection: Any, shown: str) -> None:
    """Let readers wait for no writer. SQLite itself does not wait to change that, so it is tried again."""
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if time.monotonic() > deadline:
                raise GradebookError(f"{shown} cannot be used as a gradebook: {error}") from error
            time.sleep(_AGAIN_SECONDS)


def _bring_up_to_date(connection: Connection, shown: str) -> None:
    tables = inspect(connection).get_table_names()
    if tables and VERSION_TABLE not in tables:
        raise GradebookError(
            f"{shown} holds other tables ({', '.join(tables[:3])}), so it is not a gradebook"
        )
    config = Config()
    config.set_main_option("script_location", _MIGRATIONS)
    config.attributes["connection"] = connection
    known = {one.revision for one in ScriptDirectory.from_config(config).walk_revisions()}
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    if not known.issuperset(context.get_current_heads()):
        raise GradebookError(
            f"{shown} was written by a later version of vitcheck: install that one, or name another gradebook"
        )
    command.upgrade(config, "head")
