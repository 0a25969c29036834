"""The line on which a stage of a block is left out, so that it is no more than an earlier one."""

from __future__ import annotations

from ...submissions.errors import Frame
from ...submissions.reading.code import parsed_file
from ..locating.steps import Step
from .block_lines import FUNCTIONS, around
from .examination import Examination

_Function = tuple[str, int]  # its file and its first line


def left_out_at(examination: Examination, step: Step) -> Frame | None:
    """Where the earlier one comes to the function that computes the whole block.

    What computed that may be a function of its own, in which nothing is wrong.
    """
    if not step.block or step.found is None or not examination.is_amiss(step):
        return None
    walk, record = examination.walk, step.found.record
    steps = [one for one in walk.steps if one.block == step.block]
    of_block = {one.found.record: one for one in reversed(steps) if one.found}
    if of_block[record] is step or examination.is_amiss(of_block[record]):
        return None
    frames = {one: walk.trace.records[one].frames for one in of_block}
    shared = set.intersection(*({*_functions(examination, one)} for one in frames.values() if one))
    functions = zip(frames[record], _functions(examination, frames[record]))
    return next((frame for frame, function in functions if function in shared), None)


def _functions(examination: Examination, frames: tuple[Frame, ...]) -> list[_Function]:
    """The innermost function that each of these lines is in."""
    return [(one.file, _begins(examination, one)) for one in frames]


def _begins(examination: Examination, frame: Frame) -> int:
    tree = parsed_file(examination.source.files, frame.file)
    return max((one.lineno for one in around(tree, FUNCTIONS, frame)), default=0)
