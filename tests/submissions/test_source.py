"""Finding submissions and reading one."""

import json
import os
import zipfile
from pathlib import Path

import pytest

from vitcheck.submissions.errors import NotLoaded, Refused
from vitcheck.submissions.reading import choosing
from vitcheck.submissions.reading.source import find_submissions, passed_over, read_source
from vitcheck.submissions.reading.submission_names import submission_name, submission_names

NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 4,
        "metadata": {},
        "cells": [
            {"cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": [], "execution_count": 1}
        ],
    }
)


def write(root: Path, *names: str, text: str = "x = 1") -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(NOTEBOOK if name.endswith(".ipynb") else text)
    return root


def zipped(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "x = 1")
    return path


def test_everything_in_a_folder_that_may_be_a_submission_is_found(tmp_path: Path) -> None:
    write(
        tmp_path,
        "b.py",
        "a/vit.py",
        "c.ipynb",
        "README.md",
        "grades.csv",
        "grades.json",
        ".hidden.py",
        "__MACOSX/x",
        "photo.png",
    )
    (tmp_path / "d.tar.gz").touch()
    (tmp_path / "e.ZIP").touch()
    found = find_submissions([tmp_path, tmp_path / "b.py"])
    assert [path.name for path in found] == ["a", "b.py", "c.ipynb", "d.tar.gz", "e.ZIP"]


def test_a_report_alone_is_a_submission_and_what_is_none_has_a_reason(tmp_path: Path) -> None:
    write(tmp_path, "ann.py", "ann.pdf", "bob.pdf", "roster.csv", "venv/x.py", ".cleo.py", ".DS_Store")
    write(tmp_path, *(f"grades/{name}" for name in ("gradebook.sqlite", "grades.csv", "index.html")))
    assert [path.name for path in find_submissions([tmp_path])] == ["ann.py", "bob.pdf"]
    left = {path.name: why for path, why in passed_over([tmp_path]).items()}
    assert set(left) == {"ann.pdf", "roster.csv", "venv", ".cleo.py", "grades"}
    assert "lies beside code" in left["ann.pdf"]
    assert "put it into a folder" in left["roster.csv"]


def test_a_file_is_a_submission_and_a_missing_path_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, "x.py")
    assert find_submissions([tmp_path / "x.py"]) == [tmp_path / "x.py"]
    with pytest.raises(FileNotFoundError, match="gone: no such file or folder"):
        find_submissions([tmp_path / "gone"])


def test_no_submission_is_called_like_a_file_beside_the_reports(tmp_path: Path) -> None:
    for name in ("index.html", "GRADES.csv", "grades.json", "gradebook.sqlite-wal"):
        (tmp_path / name).mkdir()
    (tmp_path / "gradebook.sqlite.py").write_text("")
    names = submission_names(find_submissions([tmp_path]))
    ours = ["GRADES.csv-2", "gradebook.sqlite-wal-2", "gradebook.sqlite.py", "grades.json-2", "index.html-2"]
    assert names == ours


def test_a_name_that_is_no_text_becomes_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.py")).write_text("")
    assert submission_names(find_submissions([tmp_path])) == [r"caf\xe9"]


def test_names_are_without_suffix_and_never_alike(tmp_path: Path) -> None:
    write(tmp_path, "ann/vit.py", "ann.py", "bob.v2.py", "one/cy.py", "two/cy.py", "Dee.py", "dee.ipynb")
    paths = ["ann", "ann.py", "bob.v2.py", "one/cy.py", "two/cy.py", "Dee.py", "dee.ipynb"]
    assert submission_names([tmp_path / path for path in paths]) == [
        *("ann", "ann.py", "bob.v2", "cy.py", "cy.py-2", "Dee.py", "dee.ipynb"),
    ]
    assert submission_name(Path("eve.tar.gz")) == "eve"


def test_a_file_gives_itself(tmp_path: Path) -> None:
    read = read_source(write(tmp_path, "vit.py") / "vit.py")
    assert (read.name, read.files) == ("vit.py", {"vit.py": b"x = 1"})


def test_a_notebook_gives_its_cells(tmp_path: Path) -> None:
    assert read_source(write(tmp_path, "vit.ipynb") / "vit.ipynb").files == {"vit.ipynb[1]": b"x = 1"}


def test_a_folder_gives_code_and_small_data_and_nothing_else(tmp_path: Path) -> None:
    write(
        tmp_path / "ann",
        *("vit.py", "models/a.py", "config.json", "nb.ipynb"),
        *(
            "weights.pth",
            ".git/x.py",
            "venv/lib/x.py",
            "models/__pycache__/a.py",
            ".ipynb_checkpoints/nb.ipynb",
        ),
    )
    write(tmp_path / "ann", "huge.json", text="x" * (choosing.DATA_BYTES + 1))
    os.symlink("/etc/passwd", tmp_path / "ann" / "secret.py")
    os.symlink(tmp_path, tmp_path / "ann" / "loop")
    os.mkfifo(tmp_path / "ann" / "pipe.py")
    assert set(read_source(tmp_path / "ann").files) == {"vit.py", "models/a.py", "config.json", "nb.ipynb[1]"}


def test_paths_are_relative_to_the_inner_folder_unless_it_is_a_package(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "ann.zip", "hw3/code/vit.py", "hw3/code/a/b.py", "__MACOSX/hw3/._vit.py")
    assert set(read_source(archive).files) == {"vit.py", "a/b.py"}
    archive = zipped(tmp_path / "bob.zip", "hw3/vit/__init__.py", "hw3/vit/a.py")
    assert set(read_source(archive).files) == {"vit/__init__.py", "vit/a.py"}


def test_a_folder_that_holds_one_archive_is_that_archive(tmp_path: Path) -> None:
    write(tmp_path / "Ann_1234", "onlinetext.html", "feedback.txt")
    zipped(tmp_path / "Ann_1234" / "hw3.zip", "hw3/vit.py")
    read = read_source(tmp_path / "Ann_1234")
    assert (read.name, set(read.files)) == ("Ann_1234", {"vit.py"})


def test_a_damaged_notebook_counts_only_where_nothing_else_is(tmp_path: Path) -> None:
    write(tmp_path, "vit.py")
    (tmp_path / "nb.ipynb").write_text("{")
    assert set(read_source(tmp_path).files) == {"vit.py"}
    with pytest.raises(NotLoaded, match="is not a Jupyter notebook"):
        read_source(tmp_path / "nb.ipynb")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("a/notes.txt", "x", "a holds no Python file"),
        ("a.py", " \n", "a.py is empty"),
        ("a.docx", "x", "a.docx is neither Python"),
        ("a.zip", "x", "the archive a.zip is broken"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, name: str, text: str, reason: str) -> None:
    write(tmp_path, name, text=text)
    with pytest.raises(NotLoaded, match=reason):
        read_source(tmp_path / name.split("/")[0])
    with pytest.raises(NotLoaded, match=r"gone.py cannot be read: No such file"):
        read_source(tmp_path / "gone.py")


def test_too_much_code_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.py", text="#" * (choosing.CODE_BYTES + 1))
    with pytest.raises(Refused, match=r"a.py is larger than 2 MB"):
        read_source(tmp_path / "a.py")


def test_what_is_beyond_the_room_for_data_or_code_is_left_out_and_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(choosing._ROOM, ".py", choosing._Room(2, 12))
    monkeypatch.setitem(choosing._ROOM, "", choosing._Room(1, 100))
    write(tmp_path / "b", "library/z.py", "vit.py", "x.py", "small.csv", text="x = 1")
    write(tmp_path / "b", "large.csv", text="x" * 90)
    for path in (tmp_path / "b", packed(tmp_path / "b")):
        read = read_source(path)
        assert set(read.files) == {"vit.py", "x.py", "small.csv"}
        (left,) = read.left
        assert left.startswith("2 files are beyond")
        assert left.endswith(": library/z.py, large.csv")


def packed(folder: Path) -> Path:
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for one in filter(Path.is_file, folder.rglob("*")):
            archive.write(one, one.relative_to(folder))
    return folder.with_suffix(".zip")
