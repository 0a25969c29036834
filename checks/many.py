"""Grading many submissions: several at a time, each written as soon as it is done, none ever lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..submissions.packing import pack, pack_folder
from ..submissions.source import submission_names
from .assignment import Assignment
from .engines import Done, Engine
from .result import Result
from .tasks import Task


@dataclass(frozen=True)
class Class:
    """Results in the order of the submissions, and the names of those on which the grader itself failed."""

    results: tuple[Result, ...]
    lost: tuple[str, ...]


def grade_many(
    paths: Sequence[Path],
    assignment: Assignment,
    out: Path,
    *,
    engine: Engine,
    seed: int,
    checks: Path | None,
    on_result: Callable[[Result], None],
) -> Class:
    """Grade the submissions at ``paths`` and write the reports of each, and of the class, below ``out``.

    ``on_result`` sees each result once its files are written. An interrupt leaves everything that was done.
    """
    from ..reports import write_class, write_submission

    names = submission_names(paths)
    own = pack_folder(checks) if checks else None
    tasks = (Task(pack(path), name, assignment, seed, own) for path, name in zip(paths, names, strict=True))
    done: dict[str, Result] = {}
    lost: set[str] = set()
    try:
        with engine:
            for event in engine.run(tasks):
                if not isinstance(event, Done):
                    continue
                name, result = event.task.name, event.result
                if result is None:
                    lost.add(name)
                done[name] = result or event.task.lost()
                write_submission(done[name], out / name)
                on_result(done[name])
    finally:
        ordered = tuple(done[name] for name in names if name in done)
        write_class(ordered, out)
    return Class(ordered, tuple(name for name in names if name in lost))
