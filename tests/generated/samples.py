"""Programs by kind, seed and number: the same three give the same program."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from .composing import right_model, right_part
from .drawing import Below, by_seed
from .odd import odd_program
from .program import Program
from .proving import proven
from .shrinking import recorded
from .unfinished import unfinished_program
from .wrong import Wrong, wrong_program

KINDS = ("right", "part", "wrong", "unfinished", "odd")


@dataclass(frozen=True)
class Sample:
    """A program to hand in, and what is known of it."""

    name: str
    files: dict[str, bytes]
    program: Program  # the right one that it is, or was
    known: dict[str, Any]
    wrong: Wrong | None = None


def sample(kind: str, seed: int | str, number: int) -> Sample:
    """The program of a kind with this number.

    Raises AssertionError where a right one is not: then the generator is wrong.
    """
    return _recorded(kind, seed, number)[0]


def draws_of(kind: str, seed: int | str, number: int) -> list[int]:
    """What was drawn for the program with this number: ``replayed``, it gives the program again."""
    return _recorded(kind, seed, number)[1]


def _recorded(kind: str, seed: int | str, number: int) -> tuple[Sample, list[int]]:
    for again in count():  # where a drawn program allows no slip that shows, another is drawn
        draws: list[int] = []
        below = recorded(by_seed(f"{kind}-{seed}-{number}-{again}"), draws)
        found = drawn_by(kind, below, f"{kind}_{seed}_{number:04}")
        if found is not None:
            return found, draws
    raise AssertionError("unreachable")


def drawn_by(kind: str, below: Below, name: str) -> Sample | None:
    """A program of a kind from draws; None where they give no slip that shows."""
    if kind in ("right", "part"):
        program = right_model(below) if kind == "right" else right_part(below)
        assert proven(program), f"{name} is not right: the generator is wrong"
        return Sample(name, program.files(), program, _known(program))
    program = replace(right_model(below), layout="file")  # so that a line is a line
    if kind == "odd":
        odd = odd_program(program, below)
        return Sample(name, odd.files, program, {**_known(program), "what": odd.what})
    if kind == "unfinished":
        return _unfinished(program, below, name)
    wrong = wrong_program(program, below, 2 if below(6) == 5 else 1)
    if wrong is None:
        return None
    return Sample(name, wrong.files(), program, {**_known(program), **_slipped(wrong)}, wrong)


def _unfinished(program: Program, below: Below, name: str) -> Sample | None:
    wrong = wrong_program(program, below) if below(3) == 2 else None
    cut = unfinished_program(wrong or program, below)
    if cut is None:
        return None
    known = {**_known(program), "line": cut.line, "ending": cut.ending, **(_slipped(wrong) if wrong else {})}
    return Sample(name, cut.files(), program, known, wrong)


def _known(program: Program) -> dict[str, Any]:
    sizes = {size: int(float(value)) for size, value in program.sizes.items()}
    return {"part": program.facts.part, "model": program.model, "sizes": sizes, "idioms": program.idioms}


def _slipped(wrong: Wrong) -> dict[str, Any]:
    slips = [
        {
            "slip": one.candidate.slip,
            "line": one.start[0],
            "column": one.start[1],
            "old": one.old,
            "new": one.new,
        }
        for one in wrong.slips
    ]
    mistakes = [{"id": one.id, "stage": one.stage, "kind": one.kind} for one in wrong.mistakes]
    return {
        "slips": slips,
        "differs": wrong.differs,
        "after": wrong.after,
        "stage": wrong.stage,
        "mistakes": mistakes,
    }
