"""Generated programs graded: a row for each, which is kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal

from pydantic import TypeAdapter

from ....submissions.host.process import Zygote
from ...assignment.asked_parts import AskedPart
from ...assignment.assignment import Assignment, load_assignment
from ...assignment.default_assignment import DEFAULT
from ...grading.grader import grader
from ...parts.alone import asking_for
from .corpus_counts import asked_of_all, handed_in
from .generated import Generated, Maker, load_maker
from .program_verdict import GRADER_FAILED, ProgramVerdict, verdict_on

_zygote = Zygote(("torchvision", "einops"))  # of each worker: the first program that it grades starts it


@dataclass(frozen=True)
class GradedProgram:
    """A generated program and what was said of it: one line of the file that keeps a run."""

    program: Generated
    told: ProgramVerdict

    def to_json(self) -> str:
        said = tuple(id for id in self.program.untrue if id in self.told.named)  # the others say nothing more
        known = replace(self.program, files={}, untrue=said)  # the name makes the files again
        return _LINE.dump_json(replace(self, program=known)).decode()


_LINE = TypeAdapter(GradedProgram)


def kept_rows(file: Path) -> list[GradedProgram]:
    """What is kept. A last line that a stop cut short is taken out of the file, and graded again."""
    if not file.exists():
        return []
    lines = file.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        os.truncate(file, sum(map(len, lines[:-1])))
        lines.pop()
    return list(map(_LINE.validate_json, lines))


def measured(folder: Path, wanted: Sequence[tuple[str, str, int]], jobs: int) -> Iterator[GradedProgram]:
    """Make and grade the programs of these kinds, seeds and numbers; each row as soon as it is there.

    Where the caller stops, by Ctrl-C too, those that are being graded are waited for, and no others begun.
    Where one cannot be made, the others are graded before that is raised.
    """
    failed = None
    own = get_context("spawn")  # a fork inherits locks that threads hold
    with ProcessPoolExecutor(jobs, own, initializer=_uninterrupted) as pool:
        rows = [pool.submit(_row, (folder, *one)) for one in wanted]
        try:
            for row in as_completed(rows):
                failed = failed or row.exception()
                if row.exception() is None:
                    yield row.result()
        finally:
            pool.shutdown(cancel_futures=True)  # which leaving `with` alone does not
    if failed is not None:
        raise failed


def _uninterrupted() -> None:
    signal(SIGINT, SIG_IGN)  # Ctrl-C reaches the pool's owner too, which decides


@cache
def _maker(folder: Path) -> Maker:
    return load_maker(folder)


def _row(task: tuple[Path, str, str, int]) -> GradedProgram:
    folder, kind, seed, number = task
    return graded(_maker(folder)(kind, seed, number), _zygote)


def graded(program: Generated, zygote: Zygote) -> GradedProgram:
    """The program handed in, and graded for what it is, in a child of ``zygote``."""
    with tempfile.TemporaryDirectory() as scratch:
        path = handed_in(program.files, Path(scratch))
        try:
            return GradedProgram(program, verdict_on(grader()(path, asked(program), zygote=zygote, seed=1)))
        except Exception as error:  # what is measured is whether it happens
            return GradedProgram(
                program, ProgramVerdict(GRADER_FAILED, cause=f"{type(error).__name__}: {error}"[:120])
            )


def asked(program: Generated) -> Assignment:
    """What the program does is asked for: its sizes, any variant, and of a part the part alone.

    Where no sizes are told, nothing is: it is graded as a file is without an assignment.
    What shows on another device alone is not: no assignment asks for it unless its author says so.
    """
    if not program.sizes:
        return load_assignment(DEFAULT)
    every, shipped = asked_of_all(), load_assignment("vit-debugging").variants
    allowed = {id: one for id, one in shipped.by_id.items() if one.allow}
    variants = shipped.model_copy(update={"by_id": allowed})
    asked = every.model_copy(update={"full": replace(every.full, **program.sizes), "variants": variants})
    if not program.part:
        return asked
    return asking_for(asked, {program.part: AskedPart(points=100)})
