"""Changed programs, tried in a process of their own, as far as an effort goes.

One plain pass tells most of them apart: with the change that mends it, a program returns what the reference
would with the same weights. What it cannot tell, and what it finds, is traced once and looked at for what is
right alone; one that seems right is examined as the submission was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from functools import cached_property
from itertools import chain, islice, zip_longest

from torch import Tensor

from ...submissions.errors import NotLoaded, StudentCodeFailed
from ...submissions.host.session import Session
from ...submissions.host.trace import Trace
from ...submissions.questions.changes import ChangedPass, TryChanges
from ...submissions.reading.code import texts
from ...submissions.reading.edits import Edit
from ...submissions.reading.source import Source
from ..examining.examination import Examination
from ..examining.passes.replay import reference_pass
from ..locating.comparing import IN_SINGLE, equal, far
from ..locating.context import Predict
from ..locating.locate import locate
from ..locating.walk import BRIEF, USUAL, Patience, Step, Walk

_RECORDS, _LOOK_UPS = 300, 500  # of a pass, that take as long as a try of what raises
_PLAIN = 0.05  # of that, a plain pass
_INFERRED = 5.0  # times that, how a program is built
_TOGETHER = 40  # changes that one question asks about
_GLANCE = Patience(price=BRIEF.price, look_ups=1_500)
_LONG = Patience(price=USUAL.price, look_ups=12_000)
_RETURNED = ("logits", "class_probabilities")


class Trials:
    """Of one examination. Whatever it asks may raise the SubmissionError that ended its process."""

    def __init__(self, examination: Examination, session: Session, effort: float) -> None:
        self.examination, self.session, self.effort = examination, session, effort
        self._accepted = _lacking(examination)
        self._there = {key for key in examination.keys if not examination.is_wrong(key)}
        self._texts = dict(texts(examination.source.files))
        self._draw = examination.first_draw
        self._raised = examination.crash is not None
        self._untold = set[Edit]()  # of which no plain pass tells
        self._is_changed = False  # is another program than the submission loaded?
        is_wrong = _has_mistakes(examination)
        self.used = None if is_wrong else _used(examination.first.trace)  # where no stage is wrong

    def promising(self, edits: Iterable[Edit]) -> Iterator[tuple[Edit, Patience]]:
        """Those with which a plain pass returns what it should, then those that may be right all the same.

        With each comes how far to look for an explanation of all stages.
        """
        # of what adds something there is too much to try it where it is not known what should be returned
        is_known = self._expected or self._raised
        todo = (one for one in edits if is_known or one.telling or one.kind != "missing")
        telling, left, doubted = list[Edit](), list[Edit](), list[Edit]()
        while self.effort > 0 and (some := list(islice(todo, _TOGETHER))):
            for edit, found in zip(some, self._plain_passes(some)):
                if self._is_expected(found.tensors):
                    yield edit, self._patience
                elif not found.tried:
                    self._untold.add(edit)
                    (telling if edit.telling else left).append(edit)
                elif self._differs(found) and (edit.telling or self._raised):
                    telling.append(edit)
                elif self._differs(found) and edit.kind != "missing":
                    (doubted if self._expected else left).append(edit)
        in_turn = chain.from_iterable(zip_longest(doubted, left))
        for edit in (*telling, *(one for one in in_turn if one is not None)):
            if self.effort <= 0:
                return
            yield edit, BRIEF

    def repaired(self, edit: Edit, patience: Patience) -> Examination | None:
        """The changed program, examined, if all of it is right, and it lacks no stage that was there."""
        asked, source = self.examination, self._changed(edit)
        self.effort -= 1
        self._is_changed = True
        try:
            self.session.replace(source)
            if self._raised:
                self._understand()
            if not self._seems_right(edit, patience):
                return None
            other = Examination(source, self.session, asked.assignment, asked.seed)
            other.trace_examples()
            other.locate_examples()
            right = not _has_mistakes(other) and not self._lost(edit, other)
        except (NotLoaded, StudentCodeFailed):
            return None
        return other if right and self._keeps_formulas(other) else None

    def _keeps_formulas(self, other: Examination) -> bool:
        """Is what was a wrong formula a right one with the change, and not just none that is known?"""
        wrong = (key for key, is_right in self.examination.walk.formulas.items() if not is_right)
        return all(other.walk.formulas.get(key) for key in wrong)

    def _understand(self) -> None:
        """Of what ended in an exception it was not seen how many blocks there are, say."""
        self.session.infer(self.examination.assignment.model.pins, self.examination.family.small)
        draw = self.examination.first_draw  # whatever was understood of a change before this one
        self._draw = replace(draw, sizes=self.session.sizes_for(draw.sizes))
        self.effort -= _INFERRED

    def _lost(self, edit: Edit, other: Examination) -> Set[str]:
        """What was there, or may have been, and is not with the change: leaving it out mends nothing."""
        new = _lacking(other) - self._accepted
        return new if edit.kind == "extra" else new & self._there

    def is_likely(self, repaired: Examination) -> bool:
        """Where all stages are right, what is not used is rather missing where something is."""
        before = excused(self.examination)
        return self.used is None or not before or excused(repaired) < before

    def _plain_passes(self, edits: Sequence[Edit]) -> Sequence[ChangedPass]:
        if self._is_changed:
            self.session.replace(self.examination.source)
            self._is_changed = False
        draw = self._draw
        found = self.session.ask(
            TryChanges(
                sizes=draw.sizes,
                seed=draw.seed,
                image=draw.image,
                texts={one.file: self._texts[one.file] for one in edits},
                changes=edits,
            )
        )
        self.effort -= _PLAIN * sum(one.tried for one in found)
        return found

    def _is_expected(self, returned: Sequence[Tensor]) -> bool:
        pairs = ((one, right) for one in returned for right in self._expected)
        return any(equal(*pair, IN_SINGLE) for pair in pairs)

    def _differs(self, found: ChangedPass) -> bool:
        """Does it return what may be scores, and anything else than before?"""
        return self._has_scores(found.tensors) and not _same(found.tensors, self._before)

    def _has_scores(self, returned: Sequence[Tensor]) -> bool:
        shape = self._draw.sizes.output_shape
        return any(tuple(one.shape) == shape for one in returned)

    @cached_property
    def _before(self) -> list[Tensor]:
        return [*_scores(self.examination.first.trace)]

    @cached_property
    def _expected(self) -> list[Tensor]:
        """What right programs return with these weights; nothing where some stage is not known.

        Nor where the equations give what the submission returns: of a wrong table of positions, say.
        """
        asked, walk = self.examination, self.examination.walk
        is_whole = asked.crash is None and walk.blocks == asked.first_draw.sizes.depth
        if self.used is not None or not is_whole:
            return []
        ways = 1 + max(len(one.variants) for one in walk.steps)
        right, *others = [[*self._returned(way)] for way in range(ways)]
        return [] if _same(right, self._before) else [*right, *chain.from_iterable(others)]

    def _returned(self, way: int) -> Iterator[Tensor]:
        """What is amiss computed rightly, or as a variant is."""
        asked, one = self.examination, self.examination.first

        def equation(step: Step) -> Predict:
            if asked.is_amiss(step) or not step.findings:
                return (step.right, *step.variants)[min(way, len(step.variants))]
            return step.predict

        stages = reference_pass(one.walk, one.trace, one.draw.sizes, equation)
        return (stages[key, 0] for key in _RETURNED if (key, 0) in stages)

    def _changed(self, edit: Edit) -> Source:
        source = self.examination.source
        text = edit.applied(self._texts[edit.file])
        return replace(source, files={**source.files, edit.file: text.encode()})

    def _seems_right(self, edit: Edit, patience: Patience) -> bool:
        """Does one pass give other scores, all of which is explained by right equations at once?"""
        asked = self.examination
        draw = self._draw
        trace = self.session.trace(draw.sizes, draw.seed, draw.image)
        self.effort -= len(trace.records) / _RECORDS
        scores = [*_scores(trace)]
        if trace.error is not None or not self._has_scores(scores) or _same(scores, self._before):
            return False
        if edit in self._untold and self._expected and not (edit.telling or self._is_expected(scores)):
            return False
        if self.used is not None:  # every stage is right already, and something learns nothing
            return self.used < _used(trace) and _is_right(self._located(trace, USUAL), asked)
        if not self._comes_farther(trace):
            return False
        walk = self._located(trace, patience)
        if walk.blocks >= draw.sizes.depth and walk.unexplained is not None:
            walk = self._located(trace, _LONG)  # ways to read out that are right in some courses have a price
        return _is_right(walk, asked)

    def _comes_farther(self, trace: Trace) -> bool:
        """Is more explained at a glance than was of the submission, if not all blocks of that were?"""
        before = self.examination.walk
        if self._raised or before.unexplained is None:
            return True
        if before.blocks >= self._draw.sizes.depth:
            return True
        walk = self._located(trace, _GLANCE)
        return walk.unexplained is None or len(walk.steps) > len(before.steps)

    @cached_property
    def _patience(self) -> Patience:
        """What is right is explained at no higher price than what is wrong was."""
        walk = self.examination.walk
        if walk.unexplained is not None:
            return BRIEF
        return Patience(max(walk.price, BRIEF.price), max(walk.places.look_ups, BRIEF.look_ups))

    def _located(self, trace: Trace, patience: Patience) -> Walk:
        asked = self.examination
        accepted = asked.accepted_blocks | {asked.architecture or ""}
        walk = locate(trace, self._draw.sizes, asked.family, accepted=accepted, patience=patience)
        self.effort -= walk.places.look_ups / _LOOK_UPS
        return walk


def excused(examination: Examination) -> set[str]:
    """The mistakes that are accepted here, as forms of the model."""
    ids = {one.id for one in examination.findings()}
    kinds = examination.family.mistakes
    return {id for id in ids if kinds[id].kind == "error" and not examination.counts(id)}


def _has_mistakes(examination: Examination) -> bool:
    return examination.crash is not None or any(map(examination.is_wrong, examination.keys))


def _lacking(examination: Examination) -> set[str]:
    """The keys of stages that are not there, as an accepted variant has it."""
    ids = (one.id for one in examination.findings() if not examination.counts(one.id))
    return {key for id in ids for key in examination.family.mistake(id).without}


def _is_right(walk: Walk, examination: Examination) -> bool:
    return walk.unexplained is None and not any(map(examination.is_amiss, walk.steps))


def _used(trace: Trace) -> set[str]:
    """The names of the parameters that the scores are computed from."""
    records = {number for _, reference in trace.outputs for number in trace.ancestors(reference)}
    read = (one for number in records for one in trace.records[number].inputs if one.kind == "leaf")
    return {trace.leaves[one.number].name for one in read}


def _same(some: Sequence[Tensor], others: Sequence[Tensor]) -> bool:
    """Is what is returned the same to rounding, which another order of the same operations changes?"""
    pairs = list(zip(some, others))
    return bool(pairs) and not any(far(*pair) for pair in pairs)


def _scores(trace: Trace) -> Iterator[Tensor]:
    return (trace.tensor(reference) for _, reference in trace.outputs)
