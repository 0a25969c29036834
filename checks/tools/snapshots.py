"""All stages of one pass on one picture: the answer key, and the same of a student's code."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import torch

from ...reference.sizes import Sizes
from ...reference.stages import Stage, stages_of
from ..assignment.assignment import Assignment
from ..assignment.commands import command_line
from ..classes.tasks import Task, own_work
from ..examining.measures import MEASURES
from ..examining.passes.pictures import Picture, PictureError, demand_a_model
from ..examining.passes.reference_pass import VARIANTS, ReferencePass, reference_pass
from ..grading.arrays import packed
from ..grading.leading_slice import leading_slice
from ..grading.not_graded import versions
from ..record.result import Evidence, Result, Run, StageResult, StageStatus, Status
from ..record.snapshot import QuestionResult, Snapshot


def trace(
    path: Path,
    picture: Picture,
    assignment: Assignment,
    *,
    judge: Callable[[Task], Result],
    seed: int = 0,
) -> Snapshot:
    """Return what the code at ``path`` makes of the picture, at the sizes that ``grade`` says.

    ``judge`` does the task. A fault of the submission is in the snapshot, never an exception. Raises
    PictureError where the picture does not fit the model, or the assignment asks for none, and what ``judge``
    raises where the grader itself fails.
    """
    demand_a_model(assignment)
    result = judge(own_work(path, assignment, seed, picture=picture))
    command = command_line("trace", path.name, "--image", picture.name, assignment=assignment, seed=seed)
    return Snapshot.of(result, picture.told, command)


def answer_key(picture: Picture, assignment: Assignment, *, seed: int = 0) -> Snapshot:
    """Return the reference's stages on the picture, at full size, with weights drawn at random from ``seed``.

    Raises PictureError where the assignment has no reference, or its images are not like the picture.
    """
    demand_a_model(assignment)
    began = time.perf_counter()
    torch.set_num_threads(1)
    architecture, sizes = assignment.architectures[0], assignment.full
    if architecture not in VARIANTS:
        raise PictureError(f"{assignment.name}: there is no reference of the architecture {architecture}")
    assert isinstance(sizes, Sizes)  # as those of the reference's architectures are
    made = reference_pass(architecture, sizes, picture.at(sizes), seed)
    rows = stages_of(architecture)
    return Snapshot(
        schema=1,
        submission=None,
        assignment=assignment.name,
        asked=assignment.asked,
        picture=picture.told,
        status=Status.GRADED,
        architecture=architecture,
        stages={row.label: _stage(row, made) for row in rows},
        questions=_questions(assignment),
        run=Run(
            seed=seed,
            seconds=round(time.perf_counter() - began, 3),
            versions=versions("vitcheck", "torch"),
            sizes=vars(sizes),
            command=command_line("snapshot", "--image", picture.name, assignment=assignment, seed=seed),
        ),
        arrays=packed({row.label: (made, made.seen(row.key)) for row in rows}, MEASURES),
    )


def _questions(assignment: Assignment) -> list[QuestionResult]:
    asked = assignment.written.questions if assignment.written else {}
    return [QuestionResult(text=one.text, rubric=one.rubric, stages=[*one.stages]) for one in asked.values()]


def _stage(row: Stage, made: ReferencePass) -> StageResult:
    seen = made.seen(row.key)
    values, _, where = leading_slice(row, seen.student)
    shape = list(row.shape(made.sizes))
    return StageResult(
        key=row.key,
        title=row.title,
        axes=row.axes,
        equation=row.equation,
        status=StageStatus.PASSED,
        evidence=Evidence.OBSERVED,
        expected_shape=shape,
        shape=list(seen.student.shape),
        message=row.explanation,
        values=values,
        values_of=where,
    )
