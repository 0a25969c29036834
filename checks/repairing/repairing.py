"""One small change that makes a wrong program right in every stage: then that is where the mistake is.

The changed programs run in a process of their own, built as the submission was. Each is traced once, and
looked at for what is right alone; one that seems right is examined as the submission was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from ...submissions.errors import NotLoaded, StudentCodeFailed
from ...submissions.host.session import Session
from ...submissions.host.trace import Trace
from ...submissions.reading.code import texts
from ...submissions.reading.edits import Edit
from ...submissions.reading.source import Source
from ..examining.drawing import is_large
from ..examining.examination import Examination
from ..examining.repair import Repair
from ..locating.locate import locate
from ..locating.walk import BRIEF, USUAL, Patience, Walk
from .suspects import suspects

# What may be spent on changed programs. A try of one that raises costs 1, and takes some 30 ms.
_EFFORT, _LESS = 300.0, 100.0  # the second where the mistake has a name, and its line alone is looked for
_RECORDS, _LOOK_UPS = 300, 500  # of a pass, that take as long


def is_repairable(examination: Examination) -> bool:
    """Can changed programs be tried: is it a finished model, of which a pass takes little?"""
    if not examination.assignment.architectures or examination.session.is_script or examination.unfinished:
        return False
    return not is_large(examination.first_draw.sizes)


def find_repair(
    examination: Examination, session: Session, *, named: bool = False
) -> tuple[Repair, Examination] | None:
    """The first change that leaves nothing wrong at any stage, and the program with it, examined.

    None where none that is tried does.

    ``session`` is of another process than the examination's: it may end by what a changed program does.
    Less is tried where the mistake is ``named``. Raises SubmissionError where that process ended.
    """
    trials = _Trials(examination, session, _LESS if named else _EFFORT)
    for edit in suspects(examination, anywhere=trials.used is not None):
        if trials.effort <= 0:
            return None
        repaired = trials.repaired(edit)
        stage = None if repaired is None else first_changed(examination, repaired)
        if repaired is not None and stage is not None:
            return Repair(edit, stage), repaired
    return None


class _Trials:
    """Changed programs in a process of their own, as far as the ``effort`` goes."""

    def __init__(self, examination: Examination, session: Session, effort: float) -> None:
        self.examination, self.session, self.effort = examination, session, effort
        self._accepted = _lacking(examination)
        self._texts = dict(texts(examination.source.files))
        self.used = (
            None if _has_mistakes(examination) else _used(examination.first.trace)
        )  # where no stage is wrong

    def repaired(self, edit: Edit) -> Examination | None:
        """The changed program, examined, if all of it is right, and it lacks no stage that was there."""
        asked, source = self.examination, self._changed(edit)
        self.effort -= 1
        try:
            self.session.replace(source)
            if not self._seems_right():
                return None
            other = Examination(source, self.session, asked.assignment, asked.seed)
            other.trace_examples()
            other.locate_examples()
            right = not _has_mistakes(other) and _lacking(other) <= self._accepted
        except (NotLoaded, StudentCodeFailed):
            return None
        return other if right else None

    def _changed(self, edit: Edit) -> Source:
        source = self.examination.source
        text = edit.applied(self._texts[edit.file])
        return replace(source, files={**source.files, edit.file: text.encode()})

    def _seems_right(self) -> bool:
        """Does one pass give other scores, all of which is explained by right equations at once?"""
        asked = self.examination
        draw, before = asked.first_draw, asked.first.trace
        trace = self.session.trace(draw.sizes, draw.seed, draw.image)
        self.effort -= len(trace.records) / _RECORDS
        if trace.error is not None or _same_scores(trace, before):
            return False
        if self.used is not None:  # every stage is right already, and something learns nothing
            return self.used < _used(trace) and _is_right(self._located(trace, USUAL), asked)
        walk = self._located(trace, BRIEF)
        if walk.blocks >= draw.sizes.depth and walk.unexplained is not None:
            walk = self._located(trace, USUAL)  # ways to read out that are right in some courses have a price
        return _is_right(walk, asked)

    def _located(self, trace: Trace, patience: Patience) -> Walk:
        asked = self.examination
        accepted = asked.accepted_blocks | {asked.architecture or ""}
        walk = locate(trace, asked.first_draw.sizes, asked.family, accepted=accepted, patience=patience)
        self.effort -= walk.places.look_ups / _LOOK_UPS
        return walk


def _has_mistakes(examination: Examination) -> bool:
    return examination.crash is not None or any(map(examination.is_wrong, examination.keys))


def _lacking(examination: Examination) -> set[str]:
    """Ids of accepted variants in which a stage is not there."""
    ids = (one.id for one in examination.findings() if not examination.counts(one.id))
    return {id for id in ids if examination.family.mistake(id).without}


def _is_right(walk: Walk, examination: Examination) -> bool:
    explained = walk.unexplained is None and all(one.explained for one in walk.steps)
    return explained and not any(map(examination.counts, walk.ids))


def _used(trace: Trace) -> set[str]:
    """The names of the parameters that the scores are computed from."""
    records = {number for _, reference in trace.outputs for number in trace.ancestors(reference)}
    read = (one for number in records for one in trace.records[number].inputs if one.kind == "leaf")
    return {trace.leaves[one.number].name for one in read}


def _same_scores(one: Trace, other: Trace) -> bool:
    pairs = list(zip(_scores(one), _scores(other)))
    return bool(pairs) and all(a.shape == b.shape and torch.equal(a, b) for a, b in pairs)


def _scores(trace: Trace) -> Iterator[Tensor]:
    return (trace.tensor(reference) for _, reference in trace.outputs)


def first_changed(examination: Examination, repaired: Examination) -> str | None:
    """The key of the first stage of the right program that the wrong one does not compute.

    From the second block on that is the first stage that was wrong, or else how blocks are put together.
    """
    before = examination.walk.places
    for seen in repaired.example(examination.first_draw).seen:
        if seen.step.found and not before.find(seen.student):
            wrong = (key for key in examination.keys if examination.is_wrong(key))
            joined = "second_block_output" if seen.step.block == 2 else "last_block_output"
            return next(wrong, joined) if seen.step.block > 1 else seen.step.key
    return None
