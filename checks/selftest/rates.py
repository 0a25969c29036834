"""Generated programs graded, and rates of what is said of them."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ...submissions.process import Zygote
from ..assignment import Assignment
from ..grader import grader
from ..result import Status
from .generated import Generated, Maker, Told, load_maker, told
from .measuring import asked_of_all

GRADER_FAILED = "grader_failed"
_zygote = Zygote(("torchvision", "einops"))  # of each worker: the first program that it grades starts it


@dataclass(frozen=True)
class Row:
    """A generated program and what was said of it: one line of the file that keeps a run."""

    program: Generated
    told: Told

    def to_json(self) -> str:
        known = asdict(replace(self.program, files={}))  # the name makes them again
        return json.dumps({"program": known, "told": asdict(self.told)})

    @classmethod
    def from_json(cls, line: str) -> Row:
        kept = json.loads(line)
        return cls(Generated(**_tupled(kept["program"])), Told(**_tupled(kept["told"])))


def _tupled(record: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}


def measured(folder: Path, wanted: Sequence[tuple[str, str, int]], jobs: int) -> Iterator[Row]:
    """Make and grade the programs of these kinds, seeds and numbers; each row as soon as it is there."""
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:  # a fork inherits locks that threads hold
        yield from pool.map(_row, [(folder, *one) for one in wanted])


@cache
def _maker(folder: Path) -> Maker:
    return load_maker(folder)


def _row(task: tuple[Path, str, str, int]) -> Row:
    folder, kind, seed, number = task
    with tempfile.TemporaryDirectory() as scratch:
        return graded(_maker(folder)(kind, seed, number), Path(scratch, "submission"))


def graded(program: Generated, path: Path) -> Row:
    """Write a program there, and grade it for its own sizes."""
    path.mkdir()
    for name, content in program.files.items():
        (path / name).write_bytes(content)
    try:
        return Row(program, told(grader()(path, _asked(program), zygote=_zygote, seed=1)))
    except Exception as error:  # what is measured is whether it happens
        return Row(program, Told(GRADER_FAILED, cause=f"{type(error).__name__}: {error}"[:120]))


def _asked(program: Generated) -> Assignment:
    """What the program does is asked for: its sizes, and any variant."""
    asked = asked_of_all()
    return asked.model_copy(update={"full": replace(asked.full, **program.sizes)})


def right_rates(rows: Sequence[Row]) -> dict[str, int]:
    """How many right programs were built, had all stages located, and lost points."""
    built = [row.told for row in rows if row.told.status == Status.GRADED.value]
    return {
        "built": len(built),
        "all stages located": sum(one.located for one in built),
        "lost points": sum(row.told.complains for row in rows),
    }


def wrong_rates(rows: Sequence[Row]) -> dict[str, int]:
    """How many wrong programs were detected, and what was said of them."""
    counts = Counter(word for row in rows for word in _said(row.program, row.told))
    words = (
        *(
            "detected",
            "first stage right",
            "named truly",
            "honestly unnamed",
            "named falsely",
            "named, unknown to us",
        ),
        *("something right blamed beside it", "line right", "no line", "line wrong"),
    )
    return {word: counts[word] for word in words}


def _said(program: Generated, said: Told) -> Iterator[str]:
    if not said.complains:
        return
    yield "detected"
    if said.stages[:1] and said.stages[0] in program.stages:
        yield "first stage right"
    yield _naming(program, said)
    if program.stages and set(said.stages) - set(program.stages):
        yield "something right blamed beside it"
    yield "no line" if said.line is None else "line right" if said.line in program.lines else "line wrong"


def _naming(program: Generated, said: Told) -> str:
    """The first name: true, false, or one of a mistake whose equations the generator does not have."""
    if not said.named:
        return "named truly" if {*said.variants} & {*program.ids} else "honestly unnamed"
    if said.named[0] in program.ids:
        return "named truly"
    misplaced = bool(program.stages and said.stages) and said.stages[0] not in program.stages
    return "named falsely" if program.ids or misplaced else "named, unknown to us"


def unfinished_rates(rows: Sequence[Row]) -> dict[str, int]:
    """How many unfinished programs were told apart, and of how many the mistake in them was told."""
    return {
        "told apart": sum(row.told.unfinished for row in rows),
        "with a mistake in them": sum(bool(row.program.ids) for row in rows),
        "mistake told": sum(bool({*row.program.ids} & {*row.told.named}) for row in rows),
    }


def own_failures(rows: Sequence[Row]) -> dict[str, int]:
    """How often the grader failed, refused or ran out of time."""
    counts = Counter(row.told.status for row in rows)
    return {one: counts[one] for one in (GRADER_FAILED, Status.REFUSED.value, Status.TIMED_OUT.value)}


def causes(rows: Sequence[Row]) -> Sequence[tuple[str, Sequence[str]]]:
    """Why right programs lost points, the most frequent first, each with the names of its programs."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row.told.complains:
            found.setdefault(row.told.cause, []).append(row.program.name)
    return sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))
