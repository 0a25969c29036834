"""Records of real gradings, kept so that pages with figures can be tested without grading.

Run ``python tests/reports/records.py`` to make them again, after a change of what is kept.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from vitcheck.checks.record.result import Result
from vitcheck.checks.record.snapshot import Record, Snapshot

if TYPE_CHECKING:
    from vitcheck.submissions.host.process import Zygote

FOLDER = Path(__file__).parent / "records"
EXAMPLES = Path(__file__).parents[2] / "submissions" / "examples"
NAMES = ("fused_attention", "two_mistakes")  # nothing wrong, with implied stages; softmax over the queries


SNAPSHOTS = ("answer_key", "traced")  # of the reference, and of two_mistakes


@cache
def record(name: str) -> Result:
    """The result, with its arrays."""
    return Result.from_json(*_read(name))


@cache
def snapshot(name: str) -> Snapshot:
    """The same of a picture, at small sizes."""
    return Snapshot.from_json(*_read(name))


def _read(name: str) -> tuple[bytes, bytes]:
    return (FOLDER / f"{name}.json").read_bytes(), (FOLDER / f"{name}.safetensors").read_bytes()


def _write(name: str, made: Record) -> None:
    (FOLDER / f"{name}.json").write_text(made.to_json(), "utf-8")
    (FOLDER / f"{name}.safetensors").write_bytes(made.arrays or b"")


def _make() -> None:
    from vitcheck.checks.assignment.assignment import load_assignment
    from vitcheck.checks.grading.grading import grade
    from vitcheck.submissions.host.process import Zygote

    FOLDER.mkdir(exist_ok=True)
    with Zygote() as zygote:
        for name in NAMES:
            _write(
                name, grade(EXAMPLES / f"{name}.py", load_assignment("vit-debugging"), zygote=zygote, seed=7)
            )
        _make_snapshots(zygote)


def _make_snapshots(zygote: Zygote) -> None:
    from own_picture import painted, small

    from vitcheck.checks.classes.tasks import Task
    from vitcheck.checks.examining.passes.pictures import read_picture
    from vitcheck.checks.tools.snapshots import answer_key, trace

    with TemporaryDirectory() as folder:
        picture = read_picture(painted(Path(folder)))
    _write("answer_key", answer_key(picture, small(), seed=7))
    judge = partial(Task.grade, zygote=zygote)
    _write("traced", trace(EXAMPLES / "two_mistakes.py", picture, small(), judge=judge, seed=7))


if __name__ == "__main__":
    _make()
