"""Small changes that make a wrong program right in every stage: then that is where the mistakes are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...submissions.errors import Frame
from ...submissions.host.session import Session
from ...submissions.questions.size_limits import is_large
from ...submissions.reading.edits.edit import Edit
from ..examining.examination import Examination
from ..examining.repair import Repair
from ..locating.patience import Patience
from .mended_stage import mended_stage
from .suspects import suspects
from .trials import Trials

# What may be spent on changed programs: a try of one that raises costs 1, and takes some 30 ms.
_EFFORT, _LESS = 150.0, 120.0  # the second where the mistake has a name, and its line alone is looked for
_MOST, _FEWER = 1_000, 700  # changes that are looked at, and then
_SLIPS = 2  # of one program, that are looked for


@dataclass(frozen=True)
class Mended:
    """A change, with the programs before it and with it."""

    repair: Repair
    before: Examination
    after: Examination


def is_repairable(examination: Examination) -> bool:
    """Can changed programs be tried: is it a finished model, of which a pass takes little?

    What makes new parameters in each pass is right or wrong by what is drawn.
    """
    if not examination.assignment.architectures or examination.session.is_script or examination.unfinished:
        return False
    return not is_large(examination.first_draw.sizes) and not examination.plain().created


def find_repairs(
    examination: Examination, session: Session, *, named: bool = False, only_at: Frame | None = None
) -> Iterator[Mended]:
    """Likely changes that leave nothing wrong at any stage, or less, one after the other.

    What comes with a change can be asked until the next one is: then other programs are loaded.
    ``session`` is of another process than the examination's: it may end by what a changed program does.
    Less is tried where mistakes are ``named``, and where it can be ``only_at`` a line, nothing elsewhere.
    Raises SubmissionError where that process ended.
    """
    is_known = _is_known_where_made if named else _is_known_where_stored
    if is_known(examination):
        return
    for _ in range(_SLIPS):
        found = _find_repair(examination, session, named, only_at)
        if found is None:
            return
        yield Mended(found[0], examination, found[1])
        examination = found[1]
        if not any(map(examination.is_wrong, examination.keys)):
            return


def _is_known_where_stored(examination: Examination) -> bool:
    """Is what cannot be called known by the line that stores it?"""
    return examination.diagnosis is not None and examination.diagnosis.stored is not None


def _is_known_where_made(examination: Examination) -> bool:
    """Is all that is wrong with stages how a tensor is made, as where it is no parameter?"""
    wrong = [one for one in examination.walk.steps if examination.is_amiss(one)]
    ids = {one.id for step in wrong for one in step.findings}
    return bool(ids) and all(examination.family.mistake(one).role for one in ids)


def _find_repair(
    examination: Examination, session: Session, named: bool, only_at: Frame | None
) -> tuple[Repair, Examination] | None:
    """The first likely change; the first of all where none is likely, and None where none mends anything."""
    trials = Trials(examination, session, _LESS if named else _EFFORT)
    likeliest = suspects(examination, trials.held, anywhere=trials.used is not None)
    if only_at is not None:
        likeliest = [one for one in likeliest if one.frame == only_at]
    doubtful: tuple[Edit, Patience] | None = None
    for edit, patience in trials.promising(likeliest[: _FEWER if named else _MOST]):
        found = _mended(trials, edit, patience)
        if found is not None and trials.is_likely(found[1]):
            return found
        if found is not None and doubtful is None:
            doubtful = edit, patience
    return None if doubtful is None else _mended(trials, *doubtful)  # anew: other programs were loaded since


def _mended(trials: Trials, edit: Edit, patience: Patience) -> tuple[Repair, Examination] | None:
    repaired = trials.repaired(edit, patience)
    stage = None if repaired is None else mended_stage(trials.examination, repaired, edit)
    return None if repaired is None or stage is None else (Repair(edit, stage), repaired)
