"""An assignment tried before it is handed out: on a solution, on wrong ones, and on known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ....reference.stages import ARCHITECTURES
from ....submissions.reading.packing import HandIn, pack, pack_folder
from ....submissions.sandbox.isolation import Isolation
from ...assignment.asked_model import AskedModel
from ...assignment.assignment import Assignment
from ...classes.engines import Done, Engine
from ...classes.tasks import Setting, Task
from ...record.result import Result
from .fates import fates
from .planting import plantable, reference_as_submission
from .problems import unearned, unpaid, wrong_one
from .typical import typical_submissions
from .validation import Solution, Typical, Validation

_EXAMPLES = 3  # of the reference with a mistake in it, which shows on any of them


def validate(
    assignment: Assignment,
    text: str,
    solution: Path,
    wrong: Sequence[Path] = (),
    *,
    seeds: int,
    engine: Engine,
    checks: Path | None = None,
    done: Callable[[int, int], None] = lambda number, of: None,
) -> Validation:
    """Grade the solution under ``seeds`` seeds, the wrong ones, and the reference with known mistakes.

    ``text`` is the assignment's file, ``checks`` a folder with the instructor's own. ``done`` is told how
    many are graded, and of how many. Raises RuntimeError where the grader itself fails.
    """
    own = pack_folder(checks) if checks else None
    setting = Setting(Isolation.NONE)  # these are the instructor's own files

    def task(handed: HandIn, name: str, asked: Assignment = assignment, seed: int = 0) -> Task:
        return Task(handed, name, asked, seed, own, setting)

    plain = assignment.model_copy(update={"examples": _EXAMPLES, "model": AskedModel()})
    solutions = [task(pack(solution), f"solution, seed {seed}", seed=seed) for seed in range(seeds)]
    wrongs = [task(pack(path), f"wrong {number}") for number, path in enumerate(wrong)]
    planted = {id: task(one, f"reference {id}".strip(), plain) for id, one in _references(assignment)}
    typical = {title: task(one, f"typical: {title}", plain) for title, one in _typical(assignment).items()}
    results = _graded(engine, [*solutions, *wrongs, *planted.values(), *typical.values()], done)
    right = [results[one.name] for one in solutions]
    of_planted = {id: results[one.name] for id, one in planted.items()}
    reference = of_planted.pop("", None)
    judged = [wrong_one(assignment, path, one.handed, results[one.name]) for path, one in zip(wrong, wrongs)]
    return Validation(
        assignment=assignment.name,
        problems=[
            *unpaid(assignment, text, right[0]),
            *unearned(right),
            *(f"{one.file}: {one.problem}" for one in judged if one.problem),
        ],
        solution=[
            Solution(seed=one.run.seed, earned=one.score.earned, possible=one.score.possible) for one in right
        ],
        wrong=judged,
        typical=[_typical_row(title, results[one.name]) for title, one in typical.items()],
        mistakes=fates(assignment, reference, of_planted),
    )


def _architecture(assignment: Assignment) -> str | None:
    """The first that has a reference, if any."""
    return next((one for one in assignment.architectures if one in ARCHITECTURES), None)


def _references(assignment: Assignment) -> Iterator[tuple[str, HandIn]]:
    """The reference with each mistake by its id, and with none by ""."""
    if architecture := _architecture(assignment):
        yield "", reference_as_submission(architecture)
        for id in plantable(architecture):
            yield id, reference_as_submission(architecture, id)


def _typical(assignment: Assignment) -> Mapping[str, HandIn]:
    architecture = _architecture(assignment)
    return typical_submissions(architecture) if architecture else {}


def _typical_row(title: str, result: Result) -> Typical:
    return Typical(title=title, earned=result.score.earned, possible=result.score.possible)


def _graded(engine: Engine, tasks: Sequence[Task], done: Callable[[int, int], None]) -> dict[str, Result]:
    """By the name of the task."""
    results: dict[str, Result] = {}
    with engine:
        for event in engine.run(tasks):
            if isinstance(event, Done):
                if event.result is None:
                    raise RuntimeError(f"the grader itself failed on the {event.task.name}")
                results[event.task.name] = event.result
                done(len(results), len(tasks))
    return results
