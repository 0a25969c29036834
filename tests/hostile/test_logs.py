"""No line of a terminal or of a job's log begins with what a student wrote, also where it is folded."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator

import pytest
from attacks.attack import Attack
from attacks.logs import COMMANDS, LOGGING
from grading import graded, met
from rich.console import Console, RenderableType
from test_presentation import traced

from vitcheck.checks.record.faults import failed_checks
from vitcheck.checks.record.result import Location, Result
from vitcheck.progress import ClassProgress
from vitcheck.pytest_text import failure_text
from vitcheck.reports.formats.github import workflow_commands
from vitcheck.reports.formats.gradescope_results import gradescope
from vitcheck.reports.formats.junit import junit
from vitcheck.reports.formats.repository import Repository
from vitcheck.reports.snapshot_table import snapshot_table
from vitcheck.reports.terminal import verdict
from vitcheck.stage_text import stage_text
from vitcheck.submissions.host.process import Zygote

FORGED = re.compile(r"^\s*(::|##|section_|✓ Nothing wrong|ann  100|FAILED vit)", re.MULTILINE)
ANYWHERE = re.compile(r"##\w*\[")
WIDTHS = range(24, 121, 7)


@pytest.fixture(scope="module")
def results(confined: Zygote, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """The record of every attack, and one for each name that a hostile file may have."""
    folder = tmp_path_factory.mktemp("logs")
    found = {one.name: graded(one, folder, confined) for one in LOGGING}
    some = found[LOGGING[0].name]
    return found | {name: called(some, name) for name in COMMANDS}


def called(result: Result, name: str) -> Result:
    """The same of a submission and a file of that name."""
    there = Location(file=f"{name}.py", line=3, excerpt=[])
    stages = {key: one.model_copy(update={"location": there}) for key, one in result.stages.items()}
    return result.model_copy(update={"submission": name, "stages": stages})


def printed(shown: RenderableType, width: int) -> str:
    text = io.StringIO()
    Console(file=text, width=width, highlight=False).print(shown)
    return text.getvalue()


def texts(result: Result) -> Iterator[str]:
    """All that commands and bridges print of it."""
    for width in WIDTHS:
        yield printed(verdict(result), width)
        yield printed(snapshot_table(traced(result)), width)
        yield from (printed(stage_text(result, label), width) for label in ("S02", "S12"))
    yield from (failure_text(result, one.id) for one in failed_checks(result))
    yield junit(result, Repository())
    document = json.loads(gradescope(result, Repository()))
    yield from (one["output"] for one in (document, *document["tests"]))
    progress = ClassProgress(Console(file=(lines := io.StringIO()), width=40, force_terminal=True))
    progress.start(1, 0)
    progress.done(result)
    yield lines.getvalue()


@pytest.mark.parametrize("attack", LOGGING, ids=lambda one: one.name)
def test_an_attack_on_a_log_gets_what_it_earned(attack: Attack, results: dict[str, Result]) -> None:
    met(attack.expected, results[attack.name])


def test_no_line_begins_with_what_a_student_wrote(results: dict[str, Result]) -> None:
    for result in results.values():
        for text in texts(result):
            assert FORGED.search(text) is None, text
            assert ANYWHERE.search(text) is None, text


def test_annotations_are_commands_of_ours_alone(results: dict[str, Result]) -> None:
    for result in results.values():
        for line in workflow_commands(result, Repository()).splitlines():
            assert re.match(r"::error title=[^:,]*(,file=[^:,]*(,line=\d+)?)?::", line), line
