"""Everything that a student can get of an assignment and a grade, searched for what is the teacher's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console
from small_assignment import write_small_assignment

from vitcheck.__main__ import main
from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes.gradebook.opening import open_gradebook
from vitcheck.checks.classes.gradebook.work import Work
from vitcheck.checks.grading.grading import grade
from vitcheck.checks.record.for_students import for_students
from vitcheck.checks.record.result import Outcome, Result, Visibility
from vitcheck.checks.tools.course.for_handout import handout_text
from vitcheck.commands.export import OF_ONE
from vitcheck.reports.pages.html import render_report
from vitcheck.reports.pages.notebook_cell import render_for_notebook
from vitcheck.reports.terminal import verdict
from vitcheck.shown import Result as Shown
from vitcheck.submissions.host.process import Zygote

EXAMPLE = Path(__file__).parents[2] / "submissions" / "examples" / "scale_by_width.py"
OWN = '''
def test_of_the_secret_kind(examination):
    """The secret holds. Else: The secret does not hold."""
    assert False, "the secret was found out"
'''
VISIBILITY = """
[visibility]
own = "hidden"
properties = "after_due_date"
"equation[S12]" = "hidden"

"""
SECRETS = (  # comments, rubrics, hidden checks, and what they found
    *("a comment of the teacher's", "Attention alone does not see", "the square grows"),
    *("secret", "after_due_date", "equation[S12]", "property[", "scale-by-embed-dim", "full width"),
)


@pytest.fixture(scope="module")
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = write_small_assignment(tmp_path_factory.mktemp("course"))
    text = file.read_text().replace("[variants]", f"# a comment of the teacher's\n{VISIBILITY}[variants]", 1)
    text = text.replace("own = 0", "own = 10").replace("points = 0", "points = 2 # the square grows", 1)
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def graded(assignment: Path, zygote: Zygote, tmp_path_factory: pytest.TempPathFactory) -> Result:
    own = tmp_path_factory.mktemp("own")
    (own / "test_own.py").write_text(OWN)
    result = grade(EXAMPLE, load_assignment(str(assignment)), zygote=zygote, checks=own, name="ann")
    text = result.to_json()
    assert all(one in text for one in SECRETS if one not in SECRETS[:1] + SECRETS[2:3])
    return result


def found(texts: Mapping[str, str]) -> list[tuple[str, str]]:
    """Secrets, with where they stand."""
    return [(secret, where) for where, text in texts.items() for secret in SECRETS if secret in text]


def files(folder: Path) -> dict[str, str]:
    return {str(one): one.read_text("utf-8", "replace") for one in folder.rglob("*") if one.is_file()}


def test_the_handout_holds_nothing_of_the_teachers(assignment: Path, tmp_path: Path) -> None:
    course = tmp_path / "week-1"
    run = CliRunner().invoke(main, ["init", str(course), "--start", str(assignment), "--yes"])
    assert run.exit_code == 0, run.output
    handout = files(course / "handout")
    assert found(handout) == []
    written = CliRunner().invoke(main, ["handout", str(assignment)]).output
    assert found({"handout": written}) == []
    assert "further checks, which you are told of later" in handout[str(course / "handout" / "README.md")]
    student = load_assignment(str(course / "handout" / "assignment.toml"))
    assert student.possible == load_assignment(str(assignment)).possible


def outputs(told: Result) -> Iterator[tuple[str, str]]:
    console = Console(record=True, width=80, file=StringIO())
    console.print(verdict(told))
    yield "terminal", console.export_text()
    yield "page", render_report(told)
    yield "record", told.to_json()
    yield "cell", render_for_notebook(told)
    yield "text", str(Shown.of(told))


def test_what_is_made_of_a_record_for_students_holds_nothing(graded: Result) -> None:
    told = for_students(graded)
    assert found(dict(outputs(told))) == []
    assert any(one.outcome is Outcome.PASSED for one in told.checks)
    assert told.later


def test_formats_that_others_show_hold_nothing(graded: Result, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(graded.to_json())
    for system in OF_ONE:
        text = CliRunner().invoke(main, ["export", str(tmp_path / "result.json"), "--to", system]).output
        if system == "gradescope":
            document = json.loads(text)
            document["tests"] = [one for one in document["tests"] if one["visibility"] == "visible"]
            text = json.dumps(document)
        assert found({system: text}) == [], system


def test_releasing_is_a_step_that_says_more_each_time_and_is_remembered(
    graded: Result, tmp_path: Path
) -> None:
    place = str(tmp_path / "gradebook.sqlite")
    with open_gradebook(place, create=True) as book:
        run = book.begin(Work(graded.assignment, "d", "d", {"ann": "a"}, "1.0", "auto"), 7)
        book.record(run, "a", graded)
    out = tmp_path / "for-students"

    def release(*options: str) -> dict[str, str]:
        run = CliRunner().invoke(main, ["release", str(tmp_path), "--out", str(out), *options])
        assert run.exit_code == 0, run.output
        return files(out)

    assert found(release()) == []
    assert {Path(one).name for one in files(out)} == {"report.html", "result.json"}
    later = release("--up-to", "after_due_date", "ann")
    assert {secret for secret, _ in found(later)} <= {"after_due_date", "property["}
    history = CliRunner().invoke(main, ["gradebook", "history", "ann", "--gradebook", place]).output
    assert "released: what is shown at once, said " in history
    assert history.index("shown at once") < history.index("shown after the due date")


def test_instructors_pages_are_not_written_over(graded: Result, tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["release", str(tmp_path), "--out", str(tmp_path)])
    assert (run.exit_code, "name another folder" in run.output) == (2, True)


def test_who_checks_with_the_handout_is_told_what_is_shown(
    assignment: Path, tmp_path: Path, graded: Result
) -> None:
    (tmp_path / "assignment.toml").write_text(handout_text(assignment.read_text()))
    (tmp_path / "vit.py").write_bytes(EXAMPLE.read_bytes())
    options = ["--json", str(tmp_path / "told.json"), "--html", str(tmp_path / "told.html")]
    run = CliRunner().invoke(main, ["check", str(tmp_path / "vit.py"), *options])
    written = {one: (tmp_path / one).read_text() for one in ("told.json", "told.html")}
    assert found({"terminal": run.output, **written}) == []
    told = Result.from_json(written["told.json"])
    assert told.told is Visibility.VISIBLE
    expected = [one for one in for_students(graded).checks if not one.id.startswith("own")]
    assert [(one.id, one.outcome) for one in told.checks] == [(one.id, one.outcome) for one in expected]
