"""Submissions of single components and exercises, judged in this process: without a process of their own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from corpus import edited
from wired import answered

from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.parts.exercise_judging import Exercises
from vitcheck.checks.parts.parts import Parts
from vitcheck.reference.exercises import EXERCISES
from vitcheck.submissions.child import sample_requests
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.subject import Submission
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.reading.source import Source

FOLDER = Path(__file__).with_name("parts")
_EXAMPLES = Path(__file__).parents[1] / "submissions"
_SHIPPED = {  # samples that are examples, too
    "classes": _EXAMPLES / "examples-basics" / "components.py",
    "rollout_course": _EXAMPLES / "examples-rollout" / "course_functions.py",
}
BASICS = load_assignment("vit-basics").model_copy(update={"examples": 3})
_ONE = load_assignment("vit-rollout").exercises["get_attention"]
ROLLOUT = load_assignment("vit-rollout").model_copy(update={"exercises": dict.fromkeys(EXERCISES, _ONE)})

Edit = tuple[str, str]


class _Here:
    """Answers requests as a child does."""

    prints_in_passes = False

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._state = {"loaded": load(files), "components": {}, "functions": {}, "shortening": None}

    def request(self, header: Mapping[str, Any], **_: object) -> Any:
        for name, value in self._state.items():  # the handlers know one submission a process
            setattr(Submission, name, value)
        return answered(sample_requests.HANDLERS, header)


def changed(name: str, *edits: Edit) -> str:
    """The text of a sample or example with each edit's first text replaced by its second."""
    return edited(_SHIPPED.get(name, FOLDER / f"{name}.py").read_text(encoding="utf-8"), edits)


def examined(text: str, assignment: Assignment, seed: int = 1) -> Examination:
    """A submission of one file."""
    files = {"parts.py": text.encode()}
    return Examination(Source("parts.py", files), Session(cast(Child, _Here(files))), assignment, seed)


def parts(text: str, assignment: Assignment = BASICS, seed: int = 1) -> Parts:
    return Parts(examined(text, assignment, seed))


def exercises(text: str, assignment: Assignment = ROLLOUT, seed: int = 1) -> Exercises:
    return Exercises(examined(text, assignment, seed))
