"""Which line of the student's code a stage was computed on."""

from __future__ import annotations

import ast

from ...submissions.errors import Frame, StudentCodeFailed
from ...submissions.reading.code import parsed
from ..locating.walk import Step
from .examination import Examination


def place_of(examination: Examination, key: str) -> Frame | None:
    """The line on which the stage's tensor was made, in the first block where something is wrong with it.

    Where it was never a tensor of its own, the line of the next stage that was. None where there is no line.
    """
    if examination.repair is not None and examination.repair.stage == key:
        return examination.repair.frame
    if key == examination.stopped_at and examination.crash is not None:
        return _where_stopped(examination, examination.crash)
    if key == examination.family.input_key:
        return next(iter(examination.walk.trace.value(examination.walk.trace.image).frames), None)
    shown = [one.frame for one in examination.false_claims() if one.finding.stage == key and one.frame]
    if shown:
        return shown[0]
    steps = [step for step in examination.walk.steps if step.key == key]
    wrong = [step for step in steps if step.findings or not step.explained]
    for step in (*wrong, *steps):
        frame = chained_at(examination, step) or _frame(examination, step)
        if frame is not None:
            return frame
    return None


def _where_stopped(examination: Examination, crash: StudentCodeFailed) -> Frame | None:
    """The line that raised; where that is of a later stage, the first behind the last one that was found."""
    found, walk = examination.diagnosis, examination.walk
    if found is None or found.here:
        return next(iter(crash.frames), None)
    behind = walk.trace.records[walk.position + 1 :]
    return next((frame for one in behind for frame in one.frames[:1]), None)


def chained_at(examination: Examination, step: Step) -> Frame | None:
    """Where blocks are put one behind the other, for a stage that is no more than what a block gives."""
    if step.block or step.found is None:
        return None
    walk = examination.walk
    made = (one.found for one in walk.steps if one.block and one.key != "block_input")
    records = {found.record for found in made if found is not None}
    if step.found.record not in records:
        return None
    first, *others = (walk.trace.records[number].frames for number in records)  # the innermost line first
    call = next((frame for frame in first if all(frame in one for one in others)), None)
    return call if call is None or step.key != "last_block_output" else _loop_at(examination, call)


def _loop_at(examination: Examination, frame: Frame) -> Frame:
    """The head of the loop that the line stands in, which says how many times it runs; else the line."""
    tree = dict(parsed(examination.source.files)).get(frame.file)
    loops = (one for one in ast.walk(tree) if isinstance(one, ast.For)) if tree else ()
    around = (one.lineno for one in loops if one.lineno <= frame.line <= (one.end_lineno or one.lineno))
    return frame._replace(line=max(around, default=frame.line))


def _frame(examination: Examination, step: Step) -> Frame | None:
    frames = frames_of(examination, step)
    helpers = _helpers(examination)
    # a helper's own line is the same for every stage it serves; its caller's is the one to look at
    own = [frame for frame in frames if frame not in helpers]
    return next(iter(own or frames), None)


def frames_of(examination: Examination, step: Step) -> tuple[Frame, ...]:
    """The lines that made the stage, or the next one that is a tensor of its own; innermost first."""
    record = _record(examination, step)
    return () if record is None else examination.walk.trace.records[record].frames


def _record(examination: Examination, step: Step) -> int | None:
    for finding in step.findings:
        if finding.record is not None:
            return finding.record
    if step.found is not None:
        return step.found.record
    later = examination.walk.steps[examination.walk.steps.index(step) :]
    return next((one.found.record for one in later if one.found is not None), None)


def _helpers(examination: Examination) -> set[Frame]:
    """Lines that made stages of one block, or of none, for different callers."""
    callers: dict[Frame, set[tuple[Frame, ...]]] = {}
    for step in examination.walk.steps:
        frames = () if step.found is None else examination.walk.trace.records[step.found.record].frames
        if frames and step.block <= 1:
            callers.setdefault(frames[0], set()).add(frames[1:])
    return {line for line, several in callers.items() if len(several) > 1}
