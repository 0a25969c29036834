"""Whether what is said of a program is true, as far as it is known of the program."""

from __future__ import annotations

from ...record.result import Status
from ...repairing.telling import SLIP_IDS
from .kept_rows import GradedProgram
from .program_verdict import GRADER_FAILED

_STOPPED = (Status.NOT_LOADED.value, Status.CRASHED.value)


def detected(row: GradedProgram) -> bool:
    """Is a mistake told, if only by its name among what is accepted? What was not graded got no verdict."""
    if row.told.graded:
        return row.told.complains or bool({*row.told.variants} & {*row.program.ids})
    return row.program.differs == "raises" and row.told.status in _STOPPED


def misplaced(row: GradedProgram) -> bool:
    """Is a stage blamed first that is right?"""
    faulty, first = row.program.faulty, row.told.first_stage
    return bool(faulty and first) and first not in faulty


def blames_beside(row: GradedProgram) -> bool:
    """Is a stage blamed, first or later, that is right?"""
    return bool(row.program.faulty) and bool({*row.told.stages} - {*row.program.faulty})


def _is_true(row: GradedProgram) -> bool:
    """Is the first name that of the mistake? What kind of slip it is, is true of the line of the slip."""
    first = row.told.first_named
    if first in SLIP_IDS:
        return row.told.line in row.program.lines
    return first in row.program.ids


def false(row: GradedProgram) -> bool:
    """Is another mistake named, first or beside the true one, or a right stage blamed first?"""
    first = row.told.first_named
    other = bool(first) and bool(row.program.ids or first in SLIP_IDS) and not _is_true(row)
    return other or misplaced(row) or bool({*row.program.untrue} & {*row.told.named})


def naming(row: GradedProgram) -> str:
    """What the first name is worth: each program that was detected has one of these words."""
    if false(row):
        return "said falsely"
    if row.told.first_named:
        return "named truly" if _is_true(row) else "named, unknown to us"
    return "named truly" if {*row.told.variants} & {*row.program.ids} else "honestly unnamed"


def placed(row: GradedProgram) -> str:
    """What the line that is shown of the first is worth."""
    if row.told.line is None:
        return "no line"
    return "line right" if row.told.line in row.program.lines else "line wrong"


def mistake_told(row: GradedProgram) -> bool:
    """Is a mistake told by its name, or where it has none at its stage?"""
    if row.program.ids:
        return bool({*row.program.ids} & {*row.told.named, *row.told.variants}) or _is_true(row)
    return bool({*row.program.stages} & {*row.told.stages})


def failure(row: GradedProgram) -> str:
    """What went wrong with what was said, in words that programs share; "" where nothing did."""
    if row.told.status == GRADER_FAILED:
        return f"{GRADER_FAILED}: {row.told.cause}"
    if row.program.kind == "unfinished":
        return "" if row.told.unfinished else f"not told apart: {row.told.cause}"
    if row.program.kind != "wrong":
        return row.told.cause if row.told.lost else ""
    if not detected(row):
        return f"not detected: {row.told.cause or _wanted(row)}"
    return f"said falsely: {row.told.cause}, and it is {_wanted(row)}" if false(row) else ""


def _wanted(row: GradedProgram) -> str:
    named = "/".join(dict.fromkeys(row.program.ids))
    return named or f"a mistake at {row.program.stages[-1] if row.program.stages else row.program.differs}"
