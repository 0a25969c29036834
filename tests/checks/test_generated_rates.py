"""What is counted of generated programs is what was said of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from corpus import BASES

from vitcheck.__main__ import main
from vitcheck.checks.assignment.default_assignment import DEFAULT
from vitcheck.checks.record.result import Outcome, Result
from vitcheck.checks.tools.selftest.generated import Generated, load_maker
from vitcheck.checks.tools.selftest.kept_rows import GradedProgram, asked, graded, kept_rows, measured
from vitcheck.checks.tools.selftest.program_verdict import GRADER_FAILED, ProgramVerdict, verdict_on
from vitcheck.checks.tools.selftest.rates import causes, rates
from vitcheck.reports.words.standing import standing
from vitcheck.submissions.host.process import Zygote

TESTS = Path(__file__).parents[1]
_ALL = sorted((TESTS / "reports" / "records").glob("*.json"))
RECORDS = [one for one in _ALL if '"picture"' not in one.read_text("utf-8")]  # the others are snapshots
RIGHT = Generated("right_1_0000", "right", {}, {}, has=("S04",))
WRONG = Generated(
    *("wrong_1_0000", "wrong", {}, {}),
    differs="scores",
    stages=("S12",),
    faulty=("S12", "S14"),
    ids=("scale-missing",),
    untrue=("softmax-twice",),
    lines=(31, 32),
)
RAISES = replace(WRONG, differs="raises", stages=(), faulty=(), ids=(), untrue=())
UNNAMED = replace(WRONG, ids=(), untrue=())
FINE = ProgramVerdict("graded", located=("S04", "S12"))
FAILED = ProgramVerdict(
    *("graded", 2.4),
    stages=("S12",),
    named=("scale-missing",),
    first_stage="S12",
    first_named="scale-missing",
    line=31,
    cause="S12 scale-missing",
)
UNEXPLAINED = replace(FAILED, named=(), first_named="")


def _counted(*rows: GradedProgram) -> dict[str, tuple[int, int]]:
    (kind,) = {row.program.kind for row in rows}
    return {one.measure.name: (one.count, one.total) for one in rates(rows)[kind]}


def test_of_right_programs_those_that_lose_points_are_counted_by_cause() -> None:
    rows = [
        GradedProgram(RIGHT, FINE),
        GradedProgram(RIGHT, replace(FAILED, located=("S12",))),
        GradedProgram(RIGHT, ProgramVerdict("not_loaded", lost=100, cause="not_loaded: x")),
    ]
    counted = _counted(*rows)
    assert counted["built"] == (2, 3)
    assert counted["all stages located"] == (1, 3)
    assert counted["lost points"] == (2, 3)
    assert [cause for cause, _ in causes(rows)] == ["right: S12 scale-missing", "right: not_loaded: x"]


def test_a_stage_that_is_said_not_to_be_there_is_not_located() -> None:
    assert _counted(GradedProgram(replace(RIGHT, has=("S04", "S05")), FINE))["all stages located"] == (0, 1)


NAMED, FALSE, HONEST = "named truly", "said falsely", "honestly unnamed"
SAID = [
    ("nothing", WRONG, FINE, set()),
    ("all", WRONG, FAILED, {"first stage right", NAMED, "line right"}),
    (
        "another line of the statement",
        WRONG,
        replace(FAILED, line=32),
        {"first stage right", NAMED, "line right"},
    ),
    ("no name", WRONG, replace(UNEXPLAINED, line=None), {"first stage right", HONEST, "no line"}),
    (
        *("another name", WRONG),
        replace(FAILED, first_named="kq-transposed", line=7),
        {"first stage right", FALSE, "line wrong"},
    ),
    (
        *("a false name beside the true one", WRONG),
        replace(FAILED, named=("scale-missing", "softmax-twice")),
        {"first stage right", FALSE, "line right"},
    ),
    (
        *("what may follow from it", WRONG),
        replace(FAILED, named=("scale-missing", "unused-parameter")),
        {"first stage right", NAMED, "line right"},
    ),
    (
        *("two stages that are wrong", WRONG),
        replace(FAILED, stages=("S12", "S14")),
        {"first stage right", NAMED, "line right"},
    ),
    (
        *("a right stage beside it", WRONG),
        replace(FAILED, stages=("S12", "S13")),
        {"first stage right", NAMED, "line right", "something right blamed"},
    ),
    (
        *("a right stage first", WRONG),
        replace(UNEXPLAINED, stages=("S09", "S12"), first_stage="S09"),
        {FALSE, "line right", "something right blamed"},
    ),
    (
        "a name that we cannot judge",
        UNNAMED,
        FAILED,
        {"first stage right", "named, unknown to us", "line right"},
    ),
    (
        "a check before any stage",
        WRONG,
        replace(UNEXPLAINED, stages=(), first_stage=""),
        {HONEST, "line right"},
    ),
]


@pytest.mark.parametrize(
    ("program", "said", "words"), [one[1:] for one in SAID], ids=[one[0] for one in SAID]
)
def test_what_is_said_of_a_wrong_program(program: Generated, said: ProgramVerdict, words: set[str]) -> None:
    counted = {word for word, (count, _) in _counted(GradedProgram(program, said)).items() if count}
    assert counted == words | ({"detected"} if words else set())


def test_a_wrong_program_that_runs_and_is_not_graded_is_not_detected() -> None:
    stopped = ProgramVerdict("not_loaded", lost=100, line=31, cause="not_loaded: x")
    assert _counted(GradedProgram(WRONG, stopped))["detected"] == (0, 1)
    assert _counted(GradedProgram(RAISES, stopped))["detected"] == (1, 1)
    assert _counted(GradedProgram(RAISES, ProgramVerdict("timed_out", lost=100)))["detected"] == (0, 1)


def test_where_a_stage_is_not_known_it_is_not_counted() -> None:
    counted = _counted(GradedProgram(RAISES, FAILED), GradedProgram(WRONG, FAILED))
    assert counted["first stage right"] == (1, 1)
    assert counted["something right blamed"] == (0, 1)


def test_an_unfinished_program_is_told_apart_and_its_mistake_told() -> None:
    whole, cut = replace(RIGHT, kind="unfinished"), replace(WRONG, kind="unfinished")
    staged = replace(cut, ids=())
    rows = [
        GradedProgram(whole, replace(FINE, unfinished=True)),
        GradedProgram(cut, FAILED),
        GradedProgram(cut, UNEXPLAINED),
    ]
    counted = _counted(*rows, GradedProgram(staged, UNEXPLAINED))
    assert counted["told apart"] == (1, 4)
    assert counted["mistake told"] == (2, 3)


def test_the_graders_own_failures_are_counted() -> None:
    late = [ProgramVerdict("timed_out", late=True), replace(FINE, late=True)]
    counted = _counted(
        *(
            GradedProgram(RIGHT, one)
            for one in (ProgramVerdict(GRADER_FAILED), ProgramVerdict("refused"), FINE, *late)
        )
    )
    assert counted["the grader failed"] == (1, 5)
    assert counted["refused"] == (1, 5)
    assert counted["timed out"] == (2, 5)


@pytest.mark.parametrize("record", RECORDS, ids=[one.stem for one in RECORDS])
def test_what_is_counted_as_first_is_what_a_report_says_first(record: Path) -> None:
    result = Result.from_json(record.read_text("utf-8"))
    said, stands = verdict_on(result), standing(result)
    assert said.complains == (stands.tone != "right")
    assert said.first_stage == stands.label
    if stands.label:
        assert said.first_named == stands.mistake
        assert said.line == (stands.place.line if stands.place else None)


def test_a_check_that_ends_in_the_graders_exception_is_the_graders_failure() -> None:
    result = Result.from_json(RECORDS[0].read_text("utf-8"))
    check = result.checks[0].model_copy(update={"outcome": Outcome.ERRORED, "message": "KeyError: 'query'"})
    assert verdict_on(result.model_copy(update={"checks": [check]})).status == GRADER_FAILED
    ended = check.model_copy(update={"message": "the process ended while the model ran"})
    assert verdict_on(result.model_copy(update={"checks": [ended]})).status == "graded"


def test_a_row_is_kept_and_read_again_and_half_a_line_is_graded_again(tmp_path: Path) -> None:
    row, kept = (
        GradedProgram(WRONG, replace(FAILED, named=("scale-missing", "softmax-twice"))),
        tmp_path / "rows.jsonl",
    )
    kept.write_text(row.to_json() + "\n" + row.to_json()[:100], "utf-8")
    assert kept_rows(kept) == [row]
    assert kept.read_text("utf-8") == row.to_json() + "\n"


def test_a_program_that_cannot_be_made_does_not_keep_others_from_being_graded(tmp_path: Path) -> None:
    (tmp_path / "selftest_cases.py").write_text(
        "from vitcheck.checks.tools.selftest.generated import Generated\n"
        "def generated(kind, seed, number):\n"
        "    assert number, 'not right'\n"
        "    return Generated('it', kind, {'it.py': b'x ='}, {})\n"
    )
    rows = measured(tmp_path, [("right", "1", 0), ("right", "1", 1)], jobs=1)
    assert next(rows).told.status == "not_loaded"
    with pytest.raises(AssertionError, match="not right"):
        next(rows)


def test_a_program_in_folders_is_handed_in_as_it_is(zygote: Zygote) -> None:
    files = {
        "models/__init__.py": b"from .vit import *\n",
        "models/vit.py": BASES["prenorm"].source().encode(),
    }
    assert graded(Generated("right_0_0000", "right", files, {}), zygote).told.status == "graded"


def test_a_part_is_asked_for_alone() -> None:
    made = load_maker(TESTS)("part", "3", 2)
    assignment = asked(made)
    assert list(assignment.components) == [made.part]
    assert not assignment.architectures
    assert assignment.possible == 100


def test_of_every_second_right_program_nothing_is_asked() -> None:
    """But of one whose blocks are all the same, which is right only where it is allowed."""
    made = [load_maker(TESTS)("right", "3", number) for number in range(6)]
    assert all(asked(one).asks_sizes for one in made[::2])
    free = [asked(one) for one in made[1::2] if not one.sizes]
    assert free
    assert {(one.asks_sizes, one.name) for one in free} == {(False, DEFAULT)}


def test_what_is_known_of_a_wrong_program_reaches_the_count() -> None:
    made = load_maker(TESTS)("wrong", "3", 0)
    assert made.files
    assert made.sizes["embed_dim"] % made.sizes["heads"] == 0
    assert made.differs == "raises" or made.stages
    assert {*made.stages} <= {*made.faulty}


def test_a_folder_without_a_corpus_is_refused(tmp_path: Path) -> None:
    run = CliRunner().invoke(main, ["selftest", str(tmp_path), "--generated", "1"])
    assert run.exit_code == 2
    assert "there is no selftest_cases.py" in run.output
