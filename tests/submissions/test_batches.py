"""Batches as Canvas and Moodle give them out: each student once, nobody lost."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from vitcheck.submissions.errors import Refused
from vitcheck.submissions.reading import choosing
from vitcheck.submissions.reading.lms_batches import BatchError, laid_out
from vitcheck.submissions.reading.source import find_submissions, read_source
from vitcheck.submissions.reading.submission_names import submission_names

CANVAS = {
    "smithann_1234_5678_vit-1.py": "ann",
    "o_hara_LATE_1235_5680_vit.ipynb": "{}",
    "müller_1236_5690_utils-2.py": "utils",
    "müller_1236_5691_main.py": "import utils",
    "zhangli_LATE_1237_text.html": "<p>I could not</p>",
    "anon_x7Ab2_5700_vit.py": "anonymous",
    "LATE_anon_y8_5701_vit.py": "late",
}
MOODLE = {
    "Ann Smith_1234567_assignsubmission_file_/vit.py": "ann",
    "Ann Smith_1234567_assignsubmission_file_/parts/mlp.py": "mlp",
    "Ann Smith_1234567_assignsubmission_onlinetext_/onlinetext.html": "see the file",
    "Ann Smith_1234568_assignsubmission_file/vit.py": "another Ann",
    "Jörg 2 Meier_12_assignsubmission_file_model.py": "flat",
    "Participant_77_assignsubmission_onlinetext_/onlinetext.html": "text alone",
}


def batch(folder: Path, files: Mapping[str, str], form: str) -> Path:
    if form == "zip":
        with zipfile.ZipFile(folder / "batch.zip", "w") as archive:
            for name, text in files.items():
                archive.writestr(name, text)
        return folder / "batch.zip"
    for name, text in files.items():
        (folder / "batch" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "batch" / name).write_text(text)
    return folder / "batch"


def read(path: Path, told: list[str] | None = None) -> dict[str, dict[str, str]]:
    """What is in the submission of each student."""
    with laid_out(path, path / "grades", (told if told is not None else []).append) as folder:
        found = find_submissions([folder])
        return {
            name: {
                file.relative_to(one).as_posix(): file.read_text()
                for file in one.rglob("*")
                if file.is_file()
            }
            if one.is_dir()
            else {"": one.read_text()}
            for name, one in zip(submission_names(found), found, strict=True)
        }


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_each_student_of_a_batch_from_canvas_is_a_submission(tmp_path: Path, form: str) -> None:
    assert read(batch(tmp_path, CANVAS, form)) == {
        "smithann_1234": {"vit.py": "ann"},
        "o_hara_1235": {"vit.ipynb": "{}"},
        "müller_1236": {"utils.py": "utils", "main.py": "import utils"},
        "zhangli_1237": {"text.html": "<p>I could not</p>"},
        "anon_x7Ab2": {"vit.py": "anonymous"},
        "anon_y8": {"vit.py": "late"},
    }


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_each_student_of_a_batch_from_moodle_is_a_submission(tmp_path: Path, form: str) -> None:
    assert read(batch(tmp_path, MOODLE, form)) == {
        "Ann Smith_1234567": {
            "vit.py": "ann",
            "parts/mlp.py": "mlp",
            "onlinetext.html": "see the file",
        },
        "Ann Smith_1234568": {"vit.py": "another Ann"},
        "Jörg 2 Meier_12": {"model.py": "flat"},
        "Participant_77": {"onlinetext.html": "text alone"},
    }


def test_of_two_versions_the_newer_is_taken_and_that_is_told(tmp_path: Path) -> None:
    told: list[str] = []
    files = {"ann_1_90_vit-2.py": "new", "ann_1_89_vit.py": "old", "bob_2_91_vit.py": "b"}
    assert read(batch(tmp_path, files, "zip"), told)["ann_1"] == {"vit.py": "new"}
    assert told == ["ann_1: ann_1_90_vit-2.py is newer than ann_1_89_vit.py, and taken"]


def test_files_that_are_numbered_by_their_student_are_not_versions(tmp_path: Path) -> None:
    told: list[str] = []
    files = {"ann_1_90_model-2.py": "two", "ann_1_91_model-3.py": "three", "bob_2_92_vit-4.py": "b"}
    found = read(batch(tmp_path, files, "zip"), told)
    assert found == {"ann_1": {"model-2.py": "two", "model-3.py": "three"}, "bob_2": {"vit.py": "b"}}
    assert told == []


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_who_handed_in_an_empty_folder_is_there(tmp_path: Path, form: str) -> None:
    path, name = batch(tmp_path, MOODLE, form), "Zoe Empty_99_assignsubmission_file_"
    if form == "zip":
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(f"{name}/", "")
            archive.writestr("who knows/", "")
    else:
        (path / name).mkdir()
        (path / "who knows").mkdir()
    found = read(path)
    assert (found["Zoe Empty_99"], found["who knows"], len(found)) == ({}, {}, 6)


def test_names_in_utf8_are_read_where_the_archive_does_not_say_so(tmp_path: Path) -> None:
    path = batch(tmp_path, {"müller_1_2_größe.py": "x", "Ægir_3_4_vit.py": "y"}, "zip")
    raw = bytearray(path.read_bytes())
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.find(head)
        while at >= 0:
            raw[at + flags + 1] &= ~0x08
            at = raw.find(head, at + 1)
    path.write_bytes(raw)
    assert read(path) == {"müller_1": {"größe.py": "x"}, "Ægir_3": {"vit.py": "y"}}
    with laid_out(path, tmp_path, print) as folder:
        assert read_source(folder / "müller_1").files == {"größe.py": b"x"}


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_files_that_are_named_otherwise_are_submissions_of_their_own(tmp_path: Path, form: str) -> None:
    late = {"by-mail.py": "x", "README.md": "x", "__MACOSX/._a_1_2_b.py": "x", "grades/ann_1/result.json": ""}
    found = read(batch(tmp_path, CANVAS | late, form))
    assert found["by-mail"] == {"": "x"}
    assert len(found) == 8 + (form == "zip")  # in a folder, grades is where reports are written
    assert found["README.md"] == {"README.md": "x"}, "nobody knows whose it is: somebody has to look"


@pytest.mark.parametrize("form", ["zip", "folder"])
def test_what_is_no_batch_stays_as_it_is(tmp_path: Path, form: str) -> None:
    path = batch(tmp_path, {"vit.py": "x", "parts/mlp.py": "x", "a_1_2_b.py": "x"}, form)
    with laid_out(path, tmp_path, print) as laid:
        assert laid == path


@pytest.mark.parametrize("name", ["vit.py", "../ann_1_2_vit.py"])
def test_a_zip_that_is_broken_or_leads_out_is_left_to_who_reads_archives(tmp_path: Path, name: str) -> None:
    path = batch(tmp_path, {name: "x", "/bob_1_2_vit.py": "x"}, "zip")
    with laid_out(path, tmp_path, print) as laid:
        assert laid == path
    path.write_bytes(b"PK\x03\x04 no zip")
    with laid_out(path, tmp_path, print) as laid:
        assert laid == path


def other_content(archive: bytes) -> bytes:
    return archive.replace(b"content of ann", b"content of bob")


def with_password(archive: bytes) -> bytes:
    """Say so in both headers of the only file."""
    changed = bytearray(archive)
    for flags in (6, archive.index(b"PK\x01\x02") + 8):
        changed[flags] |= 1
    return bytes(changed)


@pytest.mark.parametrize("damage", [other_content, with_password])
def test_what_cannot_be_read_stops_all_before_anything_is_graded(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = batch(tmp_path, {"ann_1_2_vit.py": "content of ann"}, "zip")
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(BatchError, match=r"ann_1_2_vit\.py in the batch cannot be read.*Download it again"):
        read(path)


def test_what_is_too_large_takes_no_room_and_is_refused_for_its_student(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "NOTEBOOK_BYTES", 2**20)
    size = 3 * 2**20
    files = {"ann_1_2_vit.py": "#" * size, "bob_3_4_weights.pth": "0" * size, "bob_3_5_vit.py": "x = 1"}
    with laid_out(batch(tmp_path, files, "zip"), tmp_path, print) as folder:
        written = folder / "ann_1" / "vit.py"
        assert (written.stat().st_size, written.stat().st_blocks) == (size, 0)
        with pytest.raises(Refused, match=r"vit\.py is larger than 2 MB"):
            read_source(written)
        assert set(read_source(folder / "bob_3").files) == {"vit.py"}


def test_an_archive_that_a_student_handed_in_is_read(tmp_path: Path) -> None:
    inner = batch(tmp_path, {"hw3/vit.py": "x = 1"}, "zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("ann_1_2_hw3-4.zip", inner)
    with laid_out(tmp_path / "all.zip", tmp_path, print) as folder:
        assert set(read_source(folder / "ann_1").files) == {"vit.py"}


NAMED = "Mallory_12_assignsubmission_file_Ann Smith_1234567_assignsubmission_file_vit.py"
BELOW = "Mallory_12_assignsubmission_file_/Ann Smith_1234567_assignsubmission_file_/vit.py"


@pytest.mark.parametrize("form", ["zip", "folder"])
@pytest.mark.parametrize("name", [NAMED, BELOW])
def test_no_name_of_a_file_makes_it_another_students_in_moodle(tmp_path: Path, form: str, name: str) -> None:
    found = read(batch(tmp_path, MOODLE | {name: "mallory"}, form))
    assert list(found["Mallory_12"].values()) == ["mallory"]
    assert found["Ann Smith_1234567"]["vit.py"] == "ann"
    assert len(found) == 5


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("mallory_12_90_smithann_1234_5678_vit.py", "mallory_12"),
        ("mallory_12_90_1234_5678_vit.py", "mallory_12"),
        ("mallory_LATE_12_90_LATE_1234_5_vit.py", "mallory_12"),
        ("anon_m4L1o_90_1234_5678_vit.py", "anon_m4L1o"),
        ("anon_m4L1o_90_99_vit.py", "anon_m4L1o"),
        ("anon_LATE_12_90_1234_vit.py", "anon_12"),  # who is called so
    ],
)
def test_no_name_of_a_file_makes_it_another_students_in_canvas(
    tmp_path: Path, name: str, student: str
) -> None:
    found = read(batch(tmp_path, CANVAS | {name: "mallory"}, "zip"))
    assert list(found[student].values()) == ["mallory"]
    assert len(found) == 7


def test_what_would_come_into_a_students_folder_is_left_out_and_told(tmp_path: Path) -> None:
    told: list[str] = []
    found = read(batch(tmp_path, CANVAS | {"smithann_1234/vit.py": "bob", "by-mail.py": "x"}, "zip"), told)
    assert found["smithann_1234"] == {"vit.py": "ann"}
    assert found["by-mail"] == {"": "x"}
    assert told == ["smithann_1234/vit.py: left out, since it is not called as what its student handed in"]


def test_names_that_exclude_each_other_cost_one_file_and_not_the_class(tmp_path: Path) -> None:
    told: list[str] = []
    begins = "Mallory_12_assignsubmission_file_/"
    files = {f"{begins}vit.py": "m", f"{begins}vit.py/vit.py": "n", f"{begins}{'x' * 300}.py": "o"}
    found = read(batch(tmp_path, MOODLE | files, "zip"), told)
    assert found["Mallory_12"] == {"vit.py": "m"}
    assert len(told) == 2
    assert len(found) == 5
