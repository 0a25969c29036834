"""Methods that stand in for code still to be written, and let the pass go on.

It ends there, as if they said so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ...submissions.errors import Frame
from ...submissions.host.session import Session
from ...submissions.questions.loading import DEFINED_NOWHERE
from ...submissions.reading.missing_imports import calls_what_is_nowhere
from ...submissions.reading.passing_on import where_passed_on
from ...submissions.reading.unwritten import early_ends, ended_there
from ..locating.accounting import without_blocks
from ..locating.model import DISCARDED
from .examination import Examination

_TRIES = 3  # methods that may have ended early and did not; each takes as long as the submission did


def may_end_early(examination: Examination) -> bool:
    """Is something wrong, missing or not returned, and may methods end before they are finished?

    A model without blocks comes to its end all the same. What such a method had made is seen only where it
    says itself that it ends.
    """
    if examination.session.is_script or not early_ends(examination.source.files):
        return False
    if examination.examples and without_blocks(examination.walk):
        return False
    if examination.crash is not None:
        return not examination.crash.is_placeholder
    written = (key for key in examination.keys if key not in examination.to_write)
    return examination.walk.trace.begun or any(map(examination.is_wrong, written))


def until_unwritten(examination: Examination, session: Session) -> Examination | None:
    """The submission with its pass ended at the method behind which nothing is right; None without such.

    ``session`` is of another process than the examination's, since what code counts would begin anew there.
    Raises NotLoaded and StudentCodeFailed where a method that says so keeps the model from being built.
    """
    places = early_ends(examination.source.files)
    for _ in range(_TRIES):
        shorter = _ended_at(examination, session, places)
        if _is_unwritten(shorter, examination):
            return shorter
        if not (places := _others(shorter, places)):
            break
    return None


def has_gaps(examination: Examination) -> bool:
    """Is it unfinished, and has it code that can be ``passed_on``, so that more of it may be seen?"""
    files = examination.source.files
    if examination.unbuilt is None and examination.unfinished is None:
        return False
    return bool(where_passed_on(files)) or calls_what_is_nowhere(files)


def ends_in_between(examination: Examination) -> bool:
    """Does the pass end at one of its gaps, as far as is known? Where there is no model there is no pass."""
    end = None if examination.unbuilt else examination.unfinished
    if end is None or end.frame is None or not examination.walk.steps:
        return True
    in_gap = end.frame in where_passed_on(examination.source.files)
    return in_gap or DEFINED_NOWHERE in str(examination.crash)


def goes_further(form: Examination, examination: Examination) -> bool:
    """Does a pass in which what is not written yet is ``passed_on`` come to its end, and show more stages?

    It has to lack what is to be written next, and no more than is to be written: an image that is passed on
    makes no patches.
    """
    if not (_comes_to_an_end(form) and _is_taken(form, examination)):
        return False
    if examination.unfinished is None or not examination.walk.steps:  # there is no pass, or nothing in it
        return "patches" in _right(form)
    is_gap = examination.unfinished.keys[0] in form.to_write
    return is_gap and form.to_write < examination.to_write and _right(form) > _right(examination)


def _comes_to_an_end(form: Examination) -> bool:
    """Does it lack something, and give back scores, if it has a head?

    Where a class token was to be picked out, to give back all tokens is no way on.
    """
    if not form.examples or form.crash is not None or not form.to_write:
        return False
    shapes = {one.step.key: one.student.shape for one in form.first.seen}
    return "logits" in form.to_write or shapes["logits"] == form.first_draw.sizes.output_shape


def _is_taken(form: Examination, examination: Examination) -> bool:
    """Does what is behind the gap go on with what it gives back, as with what it is to give?

    A block that is passed on makes no use of its attention, half of one may be any kind of block, and what is
    wrong in no known way may be given something else than it takes.
    """
    is_half = form.is_foreign and "mlp_hidden" in form.to_write
    is_odd = bool(form.unexplained - examination.unexplained)
    return not (DISCARDED in form.walk.ids or is_half or is_odd)


def _right(examination: Examination) -> set[str]:
    """Keys of the stages that are there and right."""
    return {step.key for step in examination.walk.steps if not examination.is_wrong(step.key)}


def _others(shorter: Examination, places: Collection[Frame]) -> list[Frame]:
    """Those but the one that the pass came to, which is finished; none where it came to none."""
    frames = () if shorter.crash is None else shorter.crash.frames
    others = [one for one in places if one not in frames]
    return others if len(others) < len(places) else []


def _ended_at(asked: Examination, session: Session, places: Collection[Frame]) -> Examination:
    session.replace(replace(asked.source, files=ended_there(asked.source.files, places)))
    shorter = Examination(asked.source, session, asked.assignment, asked.seed, asked.picture)
    shorter.trace_examples()
    shorter.locate_examples()
    return shorter


def _is_unwritten(shorter: Examination, whole: Examination) -> bool:
    """Does it end for want of a stage, behind which the whole pass computes nothing that is right?"""
    if shorter.unfinished is None:
        return False
    end, steps = len(shorter.walk.trace.records), {one.key: one for one in reversed(whole.walk.steps)}
    for key in shorter.unfinished.keys:
        if key not in steps or whole.is_wrong(key) or whole.is_amiss(steps[key]):
            return True
        found = steps[key].found
        if key not in whole.absent and (found is None or found.record >= end):
            return whole.first.trace.begun  # then it is known by nothing that is returned
    return False
