"""One small change that makes a wrong program right in every stage: then that is where the mistake is."""

from __future__ import annotations

from ...submissions.host.session import Session
from ...submissions.questions.size_limits import is_large
from ...submissions.reading.edits import Edit
from ..examining.examination import Examination
from ..examining.repair import Repair
from ..locating.walk import Patience
from .mended_stage import mended_stage
from .suspects import suspects
from .trials import Trials

# What may be spent on changed programs: a try of one that raises costs 1, and takes some 30 ms.
_EFFORT, _LESS = 150.0, 80.0  # the second where the mistake has a name, and its line alone is looked for
_MOST, _FEWER = 1_000, 300  # changes that are looked at, and then


def is_repairable(examination: Examination) -> bool:
    """Can changed programs be tried: is it a finished model, of which a pass takes little?"""
    if not examination.assignment.architectures or examination.session.is_script or examination.unfinished:
        return False
    return not is_large(examination.first_draw.sizes)


def find_repair(
    examination: Examination, session: Session, *, named: bool = False
) -> tuple[Repair, Examination] | None:
    """The first likely change that leaves nothing wrong at any stage, and the program with it, examined.

    The first of all where none is likely, and None where none that is tried leaves nothing wrong.

    ``session`` is of another process than the examination's: it may end by what a changed program does.
    Less is tried where the mistake is ``named``. Raises SubmissionError where that process ended.
    """
    trials = Trials(examination, session, _LESS if named else _EFFORT)
    likeliest = suspects(examination, anywhere=trials.used is not None)
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
