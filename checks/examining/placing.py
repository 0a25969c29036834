"""Which line of the student's code a stage was computed on."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from math import prod

from ...submissions.errors import Frame, StudentCodeFailed
from ...submissions.host.trace import Reference, Trace, Use, Value
from ...submissions.reading.code import parsed_file
from ...submissions.reading.code_scopes import bound_for, called, plainly_stored
from ..locating.comparing import equal, has_all
from ..locating.steps import Step
from .block_lines import counted_at
from .examination import Examination
from .left_out import left_out_at
from .repair import repair_at

_RESHAPING = ("view", "reshape", "unflatten")


def place_of(examination: Examination, key: str) -> Frame | None:
    """The line on which the stage's tensor was made, in the first block where something is wrong with it.

    Where it was never a tensor of its own, the line of the next stage that was. None where there is no line.
    """
    if (repair := repair_at(examination.repairs, key)) is not None:
        return repair.frame
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
        made = made_at(examination, step, [one.id for one in step.findings])
        frame = counted_at(examination, step) or made or _run_at(examination, step)
        frame = frame or left_out_at(examination, step)
        if (frame := frame or _frame(examination, step)) is not None:
            return frame
    return None


def _where_stopped(examination: Examination, crash: StudentCodeFailed) -> Frame | None:
    """The line that raised; where that is of a later stage, the first behind the last one that was found."""
    found, walk = examination.diagnosis, examination.walk
    if found is None or found.here:
        return (found and found.stored) or crash.frame
    behind = walk.trace.records[walk.position + 1 :]
    return next((frame for one in behind for frame in one.frames[:1]), None)


def made_at(examination: Examination, step: Step, ids: Iterable[str]) -> Frame | None:
    """Where a parameter was made that makes such a mistake as it is, and not by how it is used."""
    trace, roles = examination.walk.trace, examination.walk.roles
    for role in (examination.family.mistake(one).role for one in ids):
        held = roles.get(role) or roles.get(f"block{step.block}.{role}")
        use = held if held is None or isinstance(held, Use) else held.weight
        read = None if use is None else trace.used(use)
        if read is not None and prod(read.shape) == prod(trace.value(read).shape):
            return stored_at(examination, trace.value(read))
    return None


def _run_at(examination: Examination, step: Step) -> Frame | None:
    """Where the operation ran that a mistake lies in, or the library's layer was made that runs it."""
    family, walk, record = examination.family, examination.walk, _record(examination, step)
    told = (one for each in walk.steps if each.block == step.block for one in each.findings)
    names = {name for one in told if one.stage == step.key for name in family.mistake(one.id).made_by}
    if not names or record is None:
        return None
    before = [one.found.record for one in walk.steps[: walk.steps.index(step)] if one.found is not None]
    known = walk.trace.ancestors(walk.trace.records[before[-1]].reference) if before else frozenset()
    way = sorted(walk.trace.ancestors(walk.trace.records[record].reference) - known)
    values = (walk.trace.records[number] for number in way)
    ran = next((one for one in values if one.op.partition(".")[0] in names), None)
    if ran is None:
        return None
    made = (walk.trace.value(one).made_at for one in ran.inputs if one.kind == "leaf")
    return next((one for one in made if one is not None), None) or next(iter(ran.frames), None)


def stored_at(examination: Examination, leaf: Value) -> Frame | None:
    """Where ``self`` is given this; of a plain tensor, as far as the lines tell that read it."""
    if leaf.kind != "tensor":
        return leaf.made_at
    records = examination.walk.trace.records
    key = leaf.reference.kind, leaf.number
    reading = (one for one in records if any((x.kind, x.number) == key for x in one.inputs))
    frame = next((frame for one in reading for frame in one.frames[:1]), None)
    tree = None if frame is None else parsed_file(examination.source.files, frame.file)
    if frame is None or tree is None:
        return None
    lines = {*plainly_stored(tree, frame.line)} or {
        stored for line in bound_for(tree, frame.line) for stored in plainly_stored(tree, line)
    }
    return Frame(frame.file, lines.pop()) if len(lines) == 1 else None


def _frame(examination: Examination, step: Step) -> Frame | None:
    if (viewed := _viewed_at(examination, step) or _cut_at(examination, step)) is not None:
        return viewed
    frames = frames_of(examination, step)
    helpers = _helpers(examination)
    # a helper's own line is the same for every stage it serves; its caller's is the one to look at
    own = [frame for frame in frames if frame not in helpers]
    return next(iter(own or frames), None)


def _viewed_at(examination: Examination, step: Step) -> Frame | None:
    """Where a view made something wrong of numbers that were right: the first line on which there is one."""
    if step.found is None or step.part is not None or not examination.is_amiss(step):
        return None
    walk, record = examination.walk, step.found.record
    blamed = {one.record for one in step.findings if one.record is not None} - {record}
    value, right = walk.trace.records[record], walk.context.of(step.right)
    if blamed:
        return _viewed_right(examination, step, blamed)
    if not value.views:
        return None
    before = walk.steps[: walk.steps.index(step)] if step.block == 0 else []
    is_read_from = record == walk.trace.image.number or any(
        one.found is not None and one.found.record == record for one in before
    )
    is_known = not equal(walk.context.of(step.predict), right)  # what would be right of the same inputs
    may_be_view = is_known and not value.is_copy  # a copy puts into another order itself
    is_view = is_read_from or (may_be_view and has_all(walk.trace.tensor(value.reference), right))
    if not is_view:
        return None
    return _reshaped_at(examination, value)


def _viewed_right(examination: Examination, step: Step, blamed: set[int]) -> Frame | None:
    """Where the only one that is blamed was seen otherwise, if it is an earlier stage, and right as that."""
    walk = examination.walk
    before = (one for one in walk.steps[: walk.steps.index(step)] if not examination.is_amiss(one))
    is_right = any(one.found is not None and {one.found.record} == blamed for one in before)
    value = walk.trace.records[min(blamed)]
    return _reshaped_at(examination, value) if is_right and value.views else None


def _reshaped_at(examination: Examination, value: Value) -> Frame:
    """The line of its first view; a layer's result may be seen otherwise right where it is called."""
    own = value.frames[:1]
    return own[0] if own and _reshapes(examination, own[0]) else value.views[0]


def _reshapes(examination: Examination, frame: Frame) -> bool:
    """Is a tensor given another shape on this line?"""
    tree = parsed_file(examination.source.files, frame.file)
    calls = (one for one in ast.walk(tree or ast.Module([], [])) if called(one) in _RESHAPING)
    return any(
        one.lineno <= frame.line <= (one.end_lineno or 0) for one in calls if isinstance(one, ast.Call)
    )


def _cut_at(examination: Examination, step: Step) -> Frame | None:
    """Where the pieces are cut that a stage is put together of, where that is one line."""
    trace, record = examination.walk.trace, _record(examination, step)
    made = None if record is None else trace.records[record]
    if made is None or made.op.partition(".")[0] not in ("cat", "stack") or len(made.inputs) < 2:
        return None
    sources = {_copied(trace, one) for one in made.inputs}
    views = {line for one in sources if one is not None for line in trace.records[one].views}
    return views.pop() if None not in sources and len(sources) == len(views) == 1 else None


def _copied(trace: Trace, reference: Reference) -> int | None:
    """The number of the record that it is a view or a copy of; None of a leaf."""
    while reference.kind == "record":
        value = trace.value(reference)
        if not value.is_copy or len(value.inputs) != 1:
            return reference.number
        reference = value.inputs[0]
    return None


def frames_of(examination: Examination, step: Step) -> tuple[Frame, ...]:
    """The lines that made the stage, or the next one that is a tensor of its own; innermost first."""
    record = _record(examination, step)
    return () if record is None else examination.walk.trace.records[record].frames


def _record(examination: Examination, step: Step) -> int | None:
    for finding in step.findings:
        if finding.record is not None:
            return finding.record
    if step.part is not None:
        return step.part
    if step.found is not None:
        return step.found.record
    later = examination.walk.steps[examination.walk.steps.index(step) :]
    return next((one.found.record for one in later if one.found is not None), None)


def _helpers(examination: Examination) -> set[Frame]:
    """Lines that made stages of one block, or of none, for different callers, and not all of them wrong."""
    callers: dict[Frame, set[tuple[Frame, ...]]] = {}
    right: set[Frame] = set()
    steps = [step for step in examination.walk.steps if step.found is not None and step.block <= 1]
    made = [(step, _record(examination, step)) for step in steps]
    wrong = {record for step, record in made if examination.is_amiss(step)}
    for step, record in made:
        frames = frames_of(examination, step)
        if frames:
            callers.setdefault(frames[0], set()).add(frames[1:])
            right.update([] if record in wrong else frames[:1])
    return {line for line, several in callers.items() if len(several) > 1 and line in right}
