"""Grades for Canvas, Moodle, Blackboard and Sakai: of the right students, and of nobody by guessing."""

from __future__ import annotations

import csv
import io

import pytest

from vitcheck.reports.formats.lms import SYSTEMS, Grade, GradeFile, grade_file
from vitcheck.reports.formats.rosters import RosterError, read_roster, undefused
from vitcheck.reports.words.spreadsheets import text_cell

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Homework 3 (4711),Final Score
"    Points Possible",,,,,100,(read only)
"Smith, Ann",1234,S-1,asmith,ViT 1,,
"O'Hara, Bob",1235,S-2,bohara,ViT 1,,
"=cmd()|' /C calc'!A0",1236,S-3,cleo,ViT 1,7,
"Smith, Ann",1237,S-4,asmith2,ViT 2,,
"""
MOODLE = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
"Participant 1234567","Ann Smith",ann@uni.example,Submitted,,100.00,-,
"Participant 1234568","Bob O'Hara",bob@uni.example,Submitted,50.00,100.00,"Friday, 1 May 2026, 9:00 AM","seen"
"""
BLACKBOARD = """\
Last Name\tFirst Name\tUsername\tStudent ID\tHomework 3 [Total Pts: 100 Score] |98765
Smith\tAnn\tasmith\t0815\t
Müller\tBob\tbmueller\t0816\t12
"""
SAKAI = """Student ID,Student Name,Homework 3 [100]
asmith,"Smith, Ann",
bohara,"O'Hara, Bob",
"""


def made(system: str, roster: str | bytes | None, *grades: Grade, name: str = "Homework 3") -> GradeFile:
    content = roster.encode() if isinstance(roster, str) else roster
    return grade_file(system, grades, name, 100, read_roster(content) if content else None)


def table(file: GradeFile, encoding: str = "utf-8", delimiter: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.content.decode(encoding), newline=""), delimiter=delimiter))


def test_canvas_gets_its_columns_its_points_row_and_the_assignment_that_it_has() -> None:
    file = made("canvas", CANVAS, Grade("asmith", 87.5), Grade("1235", 90))
    assert table(file) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Homework 3 (4711)"],
        ["    Points Possible", "", "", "", "", "100"],
        ["Smith, Ann", "1234", "S-1", "asmith", "ViT 1", "87.5"],
        ["O'Hara, Bob", "1235", "S-2", "bohara", "ViT 1", "90"],
    ]
    assert file.left_out == ()


def test_a_submission_from_a_batch_of_canvas_is_known_by_name_and_number_together() -> None:
    file = made("canvas", CANVAS, Grade("smithann_1237", 1), Grade("smithann_1235", 2), Grade("vit_1234", 3))
    assert [row[3] for row in table(file)[2:]] == ["asmith2"]
    assert file.left_out == (("smithann_1235", "not in the roster"), ("vit_1234", "not in the roster"))


def test_nobody_is_guessed() -> None:
    file = made(
        "canvas", CANVAS, Grade("Smith, Ann", 1), Grade("smith", 2), Grade("bohara", 3), Grade("S-2", 4)
    )
    assert table(file)[2:] == []
    assert dict(file.left_out) == {
        "Smith, Ann": "several students are called so",
        "smith": "not in the roster",
        "bohara": "another submission is of the same student",
        "S-2": "another submission is of the same student",
    }


def test_an_assignment_that_canvas_does_not_have_is_a_new_column() -> None:
    assert table(made("canvas", CANVAS, Grade("asmith", 1), name="vit-debugging"))[0][-1] == "vit-debugging"


def test_moodle_gets_its_worksheet_with_grades_and_remarks_filled_in() -> None:
    remarked = Grade("Ann Smith_1234567", 87.5, "=late, 2 days")
    header, row = table(made("moodle", MOODLE, remarked))
    assert header == next(csv.reader([MOODLE.splitlines()[0]]))
    assert row == [
        *("Participant 1234567", "Ann Smith", "ann@uni.example", "Submitted"),
        *("87.5", "100.00", "-", "'=late, 2 days"),
    ]


def test_a_remark_that_a_teacher_wrote_in_moodle_stays_where_nothing_was_decided() -> None:
    assert table(made("moodle", MOODLE, Grade("bob@uni.example", 60)))[1][-1] == "seen"


@pytest.mark.parametrize(
    "name",
    [
        "Mallory_12_assignsubmission_file_Ann Smith_1234567",
        "Mallory_12_assignsubmission_file_x-Ann Smith_1234567",
        "xAnn Smith_1234567",
        "Ann Smith_12_1234567",
    ],
)
def test_the_end_of_a_name_is_nobodys(name: str) -> None:
    assert made("moodle", MOODLE, Grade(name, 100)).left_out == ((name, "not in the roster"),)


def test_a_name_that_another_system_wrote_in_two_characters_is_the_same() -> None:
    roster = MOODLE.replace("Ann Smith", "José Ruiz")
    assert made("moodle", roster, Grade("Jose\u0301 Ruiz_1234567", 100)).left_out == ()


@pytest.mark.parametrize("name", ["Participant_1234568", "G1-Bob O'Hara_1234568", "BOB@uni.example"])
def test_students_in_moodle_are_found_by_what_its_batches_call_them(name: str) -> None:
    roster = MOODLE.replace('"Bob O\'Hara"', "") if name.startswith("Part") else MOODLE
    assert table(made("moodle", roster, Grade(name, 60)))[1][0] == "Participant 1234568"


def test_blackboard_gets_back_its_own_encoding_separator_and_column() -> None:
    file = made("blackboard", BLACKBOARD.encode("utf-16"), Grade("bmueller", 88), Grade("0815", 77))
    assert table(file, "utf-16", "\t") == [
        ["Last Name", "First Name", "Username", "Student ID", "Homework 3 [Total Pts: 100 Score] |98765"],
        ["Müller", "Bob", "bmueller", "0816", "88"],
        ["Smith", "Ann", "asmith", "0815", "77"],
    ]


def test_sakai_reads_the_points_possible_in_the_header() -> None:
    assert table(made("sakai", SAKAI, Grade("asmith", 87.5))) == [
        ["Student ID", "Student Name", "Homework 3 [100]"],
        ["asmith", "Smith, Ann", "87.5"],
    ]
    assert table(made("sakai", SAKAI, Grade("asmith", 1), name="vit"))[0][-1] == "vit [100]"


@pytest.mark.parametrize("system", SYSTEMS)
def test_without_a_roster_names_are_logins_and_never_formulas(system: str) -> None:
    header, *rows = table(made(system, None, Grade("asmith", 87.5), Grade("=cmd()|' /C calc'!A0", 1)))
    column = header.index(SYSTEMS[system].login)
    assert [row[column] for row in rows[-2:]] == ["asmith", "'=cmd()|' /C calc'!A0"]
    assert rows[-2][-1] == "87.5"
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]


def test_a_name_that_would_be_a_formula_is_found_and_comes_back_as_the_system_wrote_it() -> None:
    name = "=cmd()|' /C calc'!A0"
    defused = CANVAS.replace(f'"{name}"', f'"{text_cell(name)}"')
    for roster, cell in ((CANVAS, name), (defused, text_cell(name))):
        assert table(made("canvas", roster, Grade(name, 5)))[2][:2] == [cell, "1236"]
    assert undefused(text_cell(name)) == name


@pytest.mark.parametrize(
    ("system", "roster"),
    [
        ("canvas", CANVAS.replace(",100,", ",50,")),
        ("moodle", MOODLE.replace("100.00", "50.00")),
        ("blackboard", BLACKBOARD.replace("Pts: 100", "Pts: 50")),
        ("sakai", SAKAI.replace("[100]", "[50]")),
    ],
)
def test_other_points_possible_are_refused_rather_than_imported_wrong(system: str, roster: str) -> None:
    with pytest.raises(RosterError, match="worth 50 points in the roster and 100 in vitcheck"):
        made(system, roster, Grade("asmith", 1))


def test_a_roster_of_another_system_is_refused_with_what_is_missing() -> None:
    with pytest.raises(RosterError, match=r"none of the columns .*Identifier.* none of moodle's"):
        made("moodle", SAKAI, Grade("asmith", 1))


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"", b"PK\x03\x04\xe4\x00", b'a,"b\nc'])
def test_a_roster_that_is_no_table_is_refused(content: bytes) -> None:
    with pytest.raises(RosterError, match="no table of text"):
        read_roster(content)


def test_two_columns_of_one_name_are_not_chosen_between() -> None:
    roster = SAKAI.replace("Homework 3 [100]", "Homework 3 [100],Homework 3 [20]")
    with pytest.raises(RosterError, match="several columns Homework 3"):
        made("sakai", roster, Grade("asmith", 1))
