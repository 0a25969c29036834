"""Tasks: what was not even packed has its record, and the same work has the same key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from quick_tasks import NoChildren

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.classes.tasks import Setting, Task
from vitcheck.checks.record.result import Status
from vitcheck.reference.sizes import preset
from vitcheck.submissions.reading.choosing import CODE_BYTES
from vitcheck.submissions.reading.packing import HandIn, pack
from vitcheck.submissions.sandbox.isolation import Isolation


def test_what_is_too_large_to_be_carried_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "ann.py").write_bytes(b"#" * (CODE_BYTES + 1))
    task = Task(pack(tmp_path / "ann.py"), "ann", load_assignment("vit-debugging"), seed=7)
    result = task.grade(NoChildren().zygote())
    assert (result.submission, result.status, result.score.earned) == ("ann", Status.REFUSED, 0)
    assert result.reason == "ann.py is larger than 2 MB"


def test_the_key_is_of_all_that_a_result_depends_on() -> None:
    def handed(text: str) -> HandIn:
        return HandIn("ann.py", False, {"ann.py": text.encode()})

    task = Task(handed("x = 1"), "ann", load_assignment("vit-debugging"), seed=7)
    others = [
        replace(task, handed=handed("x = 2")),
        replace(task, name="bob"),
        replace(task, assignment=load_assignment("vit-prenorm")),
        replace(task, assignment=task.assignment.model_copy(update={"full": preset("S/16")})),
        replace(task, seed=8),
        replace(task, checks=HandIn("own", True, {"test_own.py": b""})),
        replace(task, setting=Setting(Isolation.NONE)),
    ]
    assert replace(task, handed=handed("x = 1")).key == task.key
    assert len({task.key, *(other.key for other in others)}) == 1 + len(others)
