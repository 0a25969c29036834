"""A disputed grade in one file: all that grading it again takes, on any machine, and what came of it here."""

from __future__ import annotations

import json
import platform
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...submissions.reading import archives
from ...submissions.reading.packing import HandIn
from ..assignment.assignment import AssignmentError, parse_assignment
from ..classes.tasks import Setting, Task
from ..record.result import CheckResult, Result

_SCHEMA = 1
_ABOUT, _ASSIGNMENT, _RESULT, _README = "dispute.json", "assignment.toml", "result.json", "README.txt"
_TEXT = """How {name} was graded, to be graded again:

    pip install "vitcheck=={vitcheck}"
    vitcheck replay {file}

It says whether the same comes of it. The folder submission/ holds what was handed in, assignment.toml and
checks/ what it was graded by, result.json what came of it (seed {seed}, {versions}).

It is for instructors: rubrics and hidden checks stand in it.
"""


class DisputeError(ValueError):
    """A file that is no such dispute; the message says why."""


@dataclass(frozen=True)
class Dispute:
    """What was handed in, what it was graded by, and the result; the assignment is called ``file``."""

    handed: HandIn
    assignment: str
    file: str
    checks: HandIn | None
    result: Result

    def task(self, setting: Setting) -> Task:
        """The same task again. Raises AssignmentError where this version cannot read the assignment."""
        asked = parse_assignment(self.assignment, self.file)
        asked._asked_for = self.file
        seed, name = self.result.run.seed, self.result.submission
        return Task(self.handed, name, asked, seed, self.checks, setting)


def write_dispute(dispute: Dispute, place: Path) -> None:
    """Write it as a zip. Raises DisputeError for what could not be read, and OSError."""
    if dispute.handed.problem is not None:
        raise DisputeError(
            f"it could not be read, so that there is nothing to replay: {dispute.handed.problem}"
        )
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _members(dispute, place.name):
            archive.writestr(name, content)


def _members(dispute: Dispute, file: str) -> Iterator[tuple[str, bytes]]:
    run, handed = dispute.result.run, dispute.handed
    versions = ", ".join(f"{name} {one}" for name, one in run.versions.items())
    text = _TEXT.format(
        name=dispute.result.submission,
        vitcheck=run.versions.get("vitcheck", ""),
        file=file,
        seed=run.seed,
        versions=versions,
    )
    about = {
        "schema": _SCHEMA,
        "assignment": dispute.file,
        "submission": {"name": handed.name, "is_folder": handed.is_folder, "left": handed.left},
        "checks": dispute.checks and {"name": dispute.checks.name},
        "machine": platform.platform(),
    }
    yield _README, text.encode()
    yield _ABOUT, json.dumps(about, indent=1).encode()
    yield _ASSIGNMENT, dispute.assignment.encode()
    yield _RESULT, dispute.result.to_json().encode()
    yield from ((f"submission/{name}", content) for name, content in handed.files.items())
    if dispute.checks:
        yield from ((f"checks/{name}", content) for name, content in dispute.checks.files.items())


def read_dispute(place: Path) -> Dispute:
    """Read such a file. Raises DisputeError, and SubmissionError as reading an archive does."""
    files = archives.unpack(place, lambda name, size: True)
    try:
        about = json.loads(files[_ABOUT])
        if about["schema"] > _SCHEMA:
            raise DisputeError(f"{place.name} was written by a later vitcheck: install that one")
        handed = about["submission"]
        checks = about["checks"]
        return Dispute(
            HandIn(
                handed["name"], handed["is_folder"], _below(files, "submission/"), left=tuple(handed["left"])
            ),
            files[_ASSIGNMENT].decode(),
            about["assignment"],
            HandIn(checks["name"], True, _below(files, "checks/")) if checks else None,
            Result.from_json(files[_RESULT]),
        )
    except DisputeError:
        raise
    except (KeyError, TypeError, ValueError, AssignmentError) as error:
        raise DisputeError(f"{place.name} is no file of `vitcheck dispute`: {error!r}") from None


def _below(files: Mapping[str, bytes], folder: str) -> dict[str, bytes]:
    return {name.removeprefix(folder): one for name, one in files.items() if name.startswith(folder)}


def differences(before: Result, after: Result) -> list[str]:
    """List, in words, what came out otherwise: grades and verdicts, and not the last digits of numbers."""
    pairs = {
        "status": (before.status.value, after.status.value),
        "points": (before.score.earned, after.score.earned),
        "points possible": (before.score.possible, after.score.possible),
        "mistakes": (_ids(before), _ids(after)),
        **_of_stages(before, after),
        **_of_checks(before, after),
    }
    return [f"{name}: {one} there, {other} here" for name, (one, other) in pairs.items() if one != other]


def _ids(result: Result) -> str:
    return ", ".join(one.id for one in result.mistakes) or "none"


def _of_stages(before: Result, after: Result) -> dict[str, tuple[object, object]]:
    def told(result: Result, label: str) -> object:
        stage = result.stages.get(label)
        return stage and f"{stage.status.value} {stage.shape}"

    labels = dict.fromkeys([*before.stages, *after.stages])
    return {label: (told(before, label), told(after, label)) for label in labels}


def _of_checks(before: Result, after: Result) -> dict[str, tuple[object, object]]:
    def told(checks: Mapping[str, CheckResult], id: str) -> object:
        return f"{checks[id].outcome.value} ({checks[id].earned:g})" if id in checks else "not run"

    here, there = ({one.id: one for one in result.checks} for result in (after, before))
    return {id: (told(there, id), told(here, id)) for id in dict.fromkeys([*there, *here])}
