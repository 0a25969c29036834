"""A gradebook is made, brought up to date, or refused; what was in it is never touched by a refusal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from gradebooks import adjustments, result, work
from postgres_server import new_database
from sqlalchemy import Connection, create_engine, text

from vitcheck.checks.classes.gradebook.gradebook_error import GradebookError
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.tables import VERSION_TABLE, Table
from vitcheck.checks.record.adjustment import Adjustment

RUN = (
    "INSERT INTO runs VALUES (1, '2026-01-01 00:00:00', NULL, 7, 'vit-debugging', 'd', 'c', '1.0', 'auto', 0)"
)
ATTEMPT = (
    "INSERT INTO attempts VALUES (1, 1, 'ann', 'a1', '2026-01-01 00:00:01', 'graded', 80, 100, :result, NULL)"
)


def made(place: object) -> None:
    """Make an empty gradebook."""
    with open_gradebook(str(place), create=True):
        pass


@contextmanager
def plain(file: Path) -> Iterator[Connection]:
    """A transaction on the file, without any of vitcheck."""
    engine = create_engine(f"sqlite:///{file}")
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_the_changes_make_the_tables_that_the_code_has(tmp_path: Path) -> None:
    made(tmp_path / "g")
    with plain(tmp_path / "g") as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        differing = compare_metadata(context, Table.metadata)
    assert differing == []


def upgraded(connection: Connection, version: str) -> None:
    """Make the tables as an earlier version had them."""
    config = Config()
    config.set_main_option("script_location", "vitcheck.checks.classes.gradebook:migrations")
    config.attributes["connection"] = connection
    command.upgrade(config, version)


def test_the_first_version_is_brought_up_to_date_with_all_that_was_in_it(tmp_path: Path) -> None:
    file = tmp_path / "g"
    with plain(file) as connection:
        upgraded(connection, "1")
        connection.execute(text(RUN))
        connection.execute(text(ATTEMPT), {"result": result("ann").to_json()})
    with open_gradebook(str(file)) as book:
        assert book.result(1) == result("ann")
        book.adjust("vit-debugging", "ann", "eva", delta=1.0)
        assert [one.total for one in book.entries()] == [81]


def test_what_was_decided_before_there_were_marks_stays_and_can_be_marked(tmp_path: Path) -> None:
    file = tmp_path / "g"
    with plain(file) as connection:
        upgraded(connection, "2")
        columns = "assignment, submission, delta, comment, extra_hours, late_days, who, at"
        values = "'vit-debugging', 'ann', 3, 'a typo', 0, 2, 'eva', '2026-01-01'"
        connection.execute(text(f"INSERT INTO adjustments ({columns}) VALUES ({values})"))
    with open_gradebook(str(file)) as book:
        before = Adjustment(delta=3, comment="a typo", late_days=2)
        assert adjustments(book) == {"ann": before}
        marked = book.adjust("vit-debugging", "ann", "eva", marks={"q1": 1.5})
        assert adjustments(book) == {"ann": replace(before, marks={"q1": 1.5})}
        assert marked.total(80) == 84.5


def test_a_later_version_is_refused(place: str) -> None:
    made(place)
    change = f"UPDATE {VERSION_TABLE} SET version_num = 'later'"
    if "://" in place:
        with psycopg.connect(place) as connection:
            connection.execute(change.encode())
    else:
        with closing(sqlite3.connect(place)) as file, file:
            file.execute(change)
    with pytest.raises(GradebookError, match="was written by a later version of vitcheck"):
        open_gradebook(place)


def test_an_sqlite_file_of_something_else_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "photos")) as file, file:
        file.execute("CREATE TABLE photos (name)")
    before = (tmp_path / "photos").read_bytes()
    with pytest.raises(GradebookError, match=r"other tables \(photos\), so it is not a gradebook"):
        open_gradebook(str(tmp_path / "photos"), create=True)
    assert (tmp_path / "photos").read_bytes() == before


def test_a_database_of_something_else_is_refused(postgres: str) -> None:
    url = new_database(postgres)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE photos (name text)")
    with pytest.raises(GradebookError, match="holds other tables"):
        open_gradebook(url)


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    content = b"no database, but long enough to have its header read" * 20
    (tmp_path / "notes").write_bytes(content)
    with pytest.raises(GradebookError, match="notes cannot be used as a gradebook: file is not a database"):
        open_gradebook(str(tmp_path / "notes"), create=True)
    assert (tmp_path / "notes").read_bytes() == content


def test_a_gradebook_that_was_damaged_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "g"
    made(file)
    content = bytearray(file.read_bytes())
    content[100:] = b"\xff" * len(content[100:])
    file.write_bytes(content)
    with pytest.raises(GradebookError, match="malformed"):
        open_gradebook(str(file))


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("mysql://host/grades", "mysql is neither"),
        ("postgresql://eva:secret@host:port/x", "must be like postgresql://user@host/grades"),
        ("{here}/none.sqlite", "there is no gradebook .*none.sqlite; `vitcheck grade` makes one"),
        (
            "postgresql://eva:secret@localhost:1/x",
            r"postgresql\+psycopg://eva:\*\*\*@localhost:1/x cannot be",
        ),
    ],
)
def test_what_cannot_be_opened_is_named(place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GradebookError, match=message) as refused:
        open_gradebook(place.format(here=tmp_path))
    assert "secret" not in str(refused.value)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GradebookError, match=r"the folder of .*file/deep/g cannot be made: Not a directory"):
        open_gradebook(str(tmp_path / "file" / "deep" / "g"), create=True)


def test_several_may_open_a_new_one_at_once(place: str) -> None:
    def use(number: int) -> None:
        with open_gradebook(place, create=True) as book:
            book.adjust("vit-debugging", f"student-{number}", "eva", delta=1.0)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(use, range(4)))
    with open_gradebook(place) as book:
        assert len(adjustments(book)) == 4


def test_a_full_disk_is_said_and_what_was_kept_stays(tmp_path: Path) -> None:
    with open_gradebook(str(tmp_path / "g"), create=True) as book:
        run = book.begin(work(), 7)
        kept = book.record(run, "a1", result("ann"))
        with book._writing.connect() as connection:  # what fills a disk, on the connection that is used next
            connection.exec_driver_sql("PRAGMA max_page_count = 1")
        large = result("bob").model_copy(update={"reason": "x" * 10**6})
        with pytest.raises(GradebookError, match="full"):
            book.record(run, "b1", large)
        assert book.result(kept) == result("ann")
        assert book.finished(work(), run) == {"ann": kept}
