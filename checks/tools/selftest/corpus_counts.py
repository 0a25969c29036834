"""The cases graded as a class is, and counted."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from ....submissions.host.process import Zygote
from ...assignment.assignment import Assignment, load_assignment
from ...grading.grader import grader
from .cases import Case, CaseVerdict, Planted, verdict_of

CORRECT = ("correct", "failed")
MISTAKES = ("mistakes", "detected", "placed", "named first")
_EXAMPLES = 3  # where a submission gets 25: it is measured how mistakes are told, not how rare ones are met

_Any = TypeVar("_Any")

_zygote = Zygote(("torchvision", "einops"))  # of each worker: the first case that it grades starts it


@dataclass
class Counts:
    """One row of the table, and the cases that are not fully right, each in a line."""

    numbers: Counter[str] = field(default_factory=Counter)
    short: list[str] = field(default_factory=list)

    def add(self, case: Case, verdict: CaseVerdict) -> None:
        """Count one verdict."""
        if not case.mistakes:
            self.numbers.update(["correct", *(["failed"] if verdict.complains else [])])
        elif len(case.mistakes) == 1:
            self._add(_right(case.mistakes[0], verdict))
        else:
            self._add([all(row) for row in zip(*(_right_of_many(one, verdict) for one in case.mistakes))])
        if not _fully_right(case, verdict):
            wanted = ", ".join(f"{one.stage or 'model'} {one.id}" for one in case.mistakes) or "nothing"
            self.short.append(f"{case.name}: {verdict}, and {wanted} was planted")

    def _add(self, right: Sequence[bool]) -> None:
        columns = zip(MISTAKES, (True, *right), strict=True)
        self.numbers.update(column for column, one in columns if one)


def _right(one: Planted, verdict: CaseVerdict) -> list[bool]:
    return [verdict.detected(one), verdict.placed(one), verdict.named_first(one)]


def _right_of_many(one: Planted, verdict: CaseVerdict) -> list[bool]:
    """Of several mistakes each has to be found, placed anywhere and named at all."""
    placed = not one.stage or one.kind != "error" or bool({one.stage, *one.elsewhere} & {*verdict.stages})
    return [verdict.detected(one), placed, verdict.names(one)]


def _fully_right(case: Case, verdict: CaseVerdict) -> bool:
    if not case.mistakes:
        return not verdict.complains
    judge = _right if len(case.mistakes) == 1 else _right_of_many
    return all(all(judge(one, verdict)) for one in case.mistakes)


def measure(cases: Sequence[Case], jobs: int) -> Iterator[tuple[Case, CaseVerdict]]:
    """The verdict on each case, in order."""
    yield from _graded([(case, 0) for case in cases], jobs)


def flaky(cases: Sequence[Case], seeds: int, jobs: int) -> Iterator[tuple[Case, bool]]:
    """For each case, whether its verdict differs between seeds."""
    rows = _graded([(case, seed) for case in cases for seed in range(1, seeds + 1)], jobs)
    for case in cases:
        yield case, len({next(rows)[1] for _ in range(seeds)}) > 1


def _graded(tasks: Sequence[tuple[Case, int]], jobs: int) -> Iterator[tuple[Case, CaseVerdict]]:
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:  # a fork inherits locks that threads hold
        verdicts = pool.map(_grade, tasks, chunksize=4)
        yield from zip((case for case, _ in tasks), verdicts, strict=True)


def _grade(task: tuple[Case, int]) -> CaseVerdict:
    case, seed = task
    with tempfile.TemporaryDirectory() as folder:
        path = handed_in(case.files, Path(folder))
        return verdict_of(grader()(path, asked_of_all(), zygote=_zygote, seed=seed))


def handed_in(files: Mapping[str, bytes], folder: Path) -> Path:
    """A submission with these files, written into the folder."""
    for name, content in files.items():
        file = folder / "submission" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return folder / "submission"


def asked_of_all() -> Assignment:
    """Every architecture and variant is accepted, and no rule about the code is asked for."""
    shipped = load_assignment("vit-debugging")
    return shipped.model_copy(
        update={
            "architectures": ("report", "pre-norm", "clip"),
            "examples": _EXAMPLES,
            "rules": shipped.rules.model_copy(update={"breakpoints": False, "prints": False}),
            "variants": type(shipped.variants)(),
        }
    )


def every(items: Sequence[_Any], count: int) -> Sequence[_Any]:
    """``count`` of them, spread evenly over all."""
    count = min(count, len(items))
    return [items[index * len(items) // count] for index in range(count)]


def table(rows: Iterable[tuple[str, Counts]]) -> Iterator[str]:
    """The lines of a Markdown table, and shares of the mistakes in per cent."""
    head = ("", *CORRECT, *MISTAKES)
    yield "| " + " | ".join(head) + " |"
    yield "| --- |" + " ---: |" * (len(head) - 1)
    for name, counts in rows:
        numbers = counts.numbers
        shares = (share(numbers[column], numbers["mistakes"]) for column in MISTAKES[1:])
        plain = (str(numbers[column]) for column in (*CORRECT, "mistakes"))
        yield f"| {name} | " + " | ".join((*plain, *shares)) + " |"


def share(part: int, whole: int) -> str:
    """In per cent; "" of nothing."""
    return f"{100 * part / whole:.1f} %" if whole else ""
