"""Changed programs, tried in a process of their own, as far as an effort goes.

One plain pass tells most of them apart: with the change that mends it, a program returns what the reference
would with the same weights, or computes at least the first wrong stage as it should. What no pass can tell,
and what it finds, is traced once and looked at for what is right alone; one that seems right is examined as
the submission was.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import chain, dropwhile, islice, zip_longest
from math import inf
from typing import Literal

from ...submissions.errors import NotLoaded, Refused, StudentCodeFailed
from ...submissions.host.session import Session
from ...submissions.host.trace import Trace
from ...submissions.questions.changes import ChangedPass, TryChanges, WatchNames
from ...submissions.questions.size_limits import pass_numbers
from ...submissions.reading.code import texts
from ...submissions.reading.edits.edit import Edit
from ...submissions.reading.source import Source
from ..examining.examination import Examination
from ..examining.passes.exchanged_names import EXCHANGED, are_exchanged
from ..locating.locate import locate
from ..locating.patience import BRIEF, USUAL, Patience
from ..locating.walk import Walk
from .expected import Expected, returned
from .held_names import HeldNames
from .rightness import all_right, excused, forms_read, lacking, right_steps, wrong_keys

_RECORDS, _LOOK_UPS = 300, 500  # of a pass, that take as long as a try of what raises
_PLAIN = 0.05  # of that, a plain pass
_INFERRED = 5.0  # times that, how a program is built
_LARGER = 10  # times a pass of the submission, which is small, that one of a change may be
_TOGETHER = 40  # changes that one question asks about
_WAITED = 600  # further changes that are looked at before something is held to be missing
_ON_PASSES = 0.5  # the share of all effort that plain passes may take
_GLANCE = Patience(price=BRIEF.price, look_ups=1_500)
_DEARER = 0.1  # which another way to the same may be
_LONG = Patience(price=USUAL.price, look_ups=12_000)

_Group = Literal["right", "added", "nearer", "telling", "doubted", "left", "out"]


class Trials:
    """Of one examination. Whatever it asks may raise the SubmissionError that ended its process."""

    def __init__(self, examination: Examination, session: Session, effort: float) -> None:
        self.examination, self.session, self.effort = examination, session, effort
        self._accepted = lacking(examination)
        self._wrong = {key for key in examination.keys if examination.is_wrong(key)}
        self._unseen = set(dropwhile(lambda one: one != examination.stopped_at, examination.keys))
        self._texts = dict(texts(examination.source.files))
        self._draw = examination.first_draw
        self._raised = examination.crash is not None
        self._untold = set[Edit]()  # of which no plain pass tells
        self._told = set[Edit]()  # with which a plain pass gives what it should
        self._unchanged = ChangedPass(0)  # a plain pass of the submission as it is, where that is asked for
        self._is_changed = True  # is another program than the submission loaded?
        is_wrong = self._raised or bool(self._wrong)
        self.used = None if is_wrong else examination.first.trace.parameters_read  # where no stage is wrong
        self._expected = Expected(examination, is_right=not is_wrong)

    @cached_property
    def held(self) -> HeldNames:
        self._load()
        draw = self._draw
        told = self.session.ask(WatchNames(sizes=draw.sizes, seed=draw.seed, image=draw.image))
        return HeldNames(told, self._texts)

    def promising(self, edits: Iterable[Edit]) -> Iterator[tuple[Edit, Patience]]:
        """Of some at a time, those with which a plain pass gives what it should, and those that are telling.

        In the end those that may be right all the same. With each comes how far to look for an explanation of
        all stages.
        """
        groups, waited = defaultdict[_Group, list[Edit]](list), 0
        for some in self._tried(edits):
            for edit, found in some:
                groups[self._group(edit, found)].append(edit)
                if groups["right"]:
                    yield groups["right"].pop(), self._patience
            yield from self._while_affordable(groups.pop("nearer", ()), _LONG)
            yield from self._while_affordable(groups.pop("telling", ()), self._patience)
            waited += len(some) * bool(groups["added"])
            if waited > _WAITED:
                break
        in_turn = chain.from_iterable(zip_longest(groups["doubted"], groups["left"]))
        yield from self._while_affordable(groups["added"], self._patience)
        yield from self._while_affordable((one for one in in_turn if one is not None), BRIEF)

    def _while_affordable(self, edits: Iterable[Edit], patience: Patience) -> Iterator[tuple[Edit, Patience]]:
        return ((edit, patience) for edit in edits if self.effort > 0)

    def _tried(self, edits: Iterable[Edit]) -> Iterator[Sequence[tuple[Edit, ChangedPass]]]:
        """What plain passes give, some at a time, as far as they may go."""
        expected = self._expected
        # of what adds something there is too much to try it where it is not known what should come of it
        is_known = expected.scores or expected.numbers or self._raised or expected.is_of_another_shape
        todo = (one for one in edits if is_known or one.telling or one.kind != "missing")
        rest = self.effort * (1 - _ON_PASSES)
        while self.effort > rest and (some := list(islice(todo, _TOGETHER))):
            if expected.blocks_lacking and not self._unchanged.tensors:
                (self._unchanged,) = self._plain_passes([replace(some[0], new=some[0].old)])
            yield [*zip(some, self._plain_passes(some))]

    def _group(self, edit: Edit, found: ChangedPass) -> _Group:
        """What a plain pass tells of a change. Rather what is there is wrong than something is missing."""
        expected, is_added = self._expected, edit.kind == "missing" and not edit.telling
        right = expected.is_returned(found)
        if right or expected.is_nearer(found) or expected.has_other_blocks(found, self._unchanged):
            self._told.add(edit)
            return "added" if is_added else "right" if right else "nearer"
        if not found.cost:
            self._untold.add(edit)
            return "telling" if edit.telling else "left"
        if not expected.differs(found):
            return "out"
        if edit.telling or self._raised:
            return "telling"
        if expected.is_of_another_shape:
            self._told.add(edit)
            return "added" if is_added else "nearer"
        return "out" if is_added else "doubted" if expected.scores else "left"

    def repaired(self, edit: Edit, patience: Patience) -> Examination | None:
        """The changed program, examined, if nothing of it is wrong, and it lacks no stage that was there.

        Or less of it than before, if a plain pass gives what it should.
        """
        asked, source = self.examination, self._changed(edit)
        self.effort -= 1
        self._is_changed = True
        try:
            self.session.replace(source)
            if (self._raised and not self._understood()) or not self._seems_better(edit, patience):
                return None
            other = Examination(source, self.session, asked.assignment, asked.seed)
            other.trace_examples()
            if not self._raised and len(other.failing) > len(asked.failing):
                return None  # where it still runs, the mistake may not show
            other.locate_examples(asked.believed_blocks)
            self.effort -= other.look_ups / _LOOK_UPS
            better = self._is_better(other) and not self._lost(edit, other)
        except (NotLoaded, StudentCodeFailed):
            return None
        return other if better and self._keeps_formulas(other) and self._keeps_names(other) else None

    def _keeps_names(self, other: Examination) -> bool:
        """Where names alone say which is the query and which the key, are these called so with the change?"""
        return EXCHANGED not in self.examination.walk.ids or not are_exchanged(other.walk, other.watched())

    def _is_better(self, other: Examination) -> bool:
        wrong = {key for key in other.keys if other.is_wrong(key)}
        if not wrong and other.crash is None:
            return True
        return not self._raised and other.crash is None and wrong < self._wrong

    def _keeps_formulas(self, other: Examination) -> bool:
        """Is what was a wrong formula a right one with the change, and not just none that is known?"""
        wrong = (key for key, is_right in self.examination.walk.formulas.items() if not is_right)
        return all(other.walk.formulas.get(key) for key in wrong)

    def _understood(self) -> bool:
        """Of what ended in an exception it was not seen how many blocks there are, say.

        False where a pass is much larger then: what is too large to tell of ends the process.
        """
        self.effort -= _INFERRED
        self.session.infer(self.examination.assignment.model.pins, self.examination.family.small)
        draw = self.examination.first_draw  # whatever was understood of a change before this one
        with suppress(Refused):
            self._draw = replace(draw, sizes=self.session.sizes_for(draw.sizes))
            return pass_numbers(self._draw.sizes) <= _LARGER * pass_numbers(draw.sizes)
        return False

    def _lost(self, edit: Edit, other: Examination) -> Set[str]:
        """What was there, or may have been, and is not with the change: leaving it out mends nothing."""
        new = lacking(other) - self._accepted
        return new if edit.kind == "extra" else new - self._wrong - self._unseen

    def is_likely(self, repaired: Examination) -> bool:
        """Does it use all that the submission uses, but for what too many blocks do?

        Where all stages are right, what is not used is rather missing where something is.
        """
        before = excused(self.examination)
        if self.used is not None:
            return not before or excused(repaired) < before
        if self._raised or self._expected.blocks_lacking < 0:
            return True
        return not forms_read(self.examination) - forms_read(repaired)

    def _plain_passes(self, edits: Sequence[Edit]) -> Sequence[ChangedPass]:
        self._load()
        draw = self._draw
        found = self.session.ask(
            TryChanges(
                sizes=draw.sizes,
                seed=draw.seed,
                image=draw.image,
                texts={one.file: self._texts[one.file] for one in edits},
                changes=edits,
                numbers=self._expected.numbers,
            )
        )
        self.effort -= _PLAIN * sum(one.cost for one in found)
        return found

    def _load(self) -> None:
        if self._is_changed:
            self.session.replace(self.examination.source)
            self._is_changed = False

    def _changed(self, edit: Edit) -> Source:
        source = self.examination.source
        text = edit.applied(self._texts[edit.file])
        return replace(source, files={**source.files, edit.file: text.encode()})

    def _seems_better(self, edit: Edit, patience: Patience) -> bool:
        """Does one pass give other scores, of which more is explained by right equations than before?"""
        asked, draw = self.examination, self._draw
        trace = self.session.trace(draw.sizes, draw.seed, draw.image)
        self.effort -= len(trace.records) / _RECORDS
        if trace.error is not None or not self._may_be_meant(edit, ChangedPass(1, (*returned(trace),))):
            return False
        if self.used is not None and not self.used < trace.parameters_read:
            return False  # every stage is right already, and something learns nothing
        if not self._comes_farther(trace):
            return False
        if edit in self._told:
            patience = replace(patience, most=self._most)
        else:  # less wrong than before is not enough
            patience = replace(patience, admits=lambda step: not asked.is_amiss(step))
        walk = self._located(trace, patience)
        if walk.blocks >= draw.sizes.depth and walk.unexplained is not None:
            # ways to read out that are right in some courses have a price
            longer = self._patience if edit not in self._told and asked.walk.unexplained is None else _LONG
            walk = self._located(trace, replace(patience, price=longer.price, look_ups=longer.look_ups))
        return all_right(walk, asked) or (edit in self._told and self._is_farther(walk))

    def _is_farther(self, walk: Walk) -> bool:
        """Is less of this wrong, or more of it right before it is?"""
        asked = self.examination
        if walk.unexplained is None and asked.walk.unexplained is None:
            return wrong_keys(walk, asked) < wrong_keys(asked.walk, asked)
        return right_steps(walk, asked) > right_steps(asked.walk, asked)

    def _may_be_meant(self, edit: Edit, found: ChangedPass) -> bool:
        """Are these other scores than before, and those that are expected if no plain pass told of them?"""
        if edit in self._told:
            return True
        if not self._expected.differs(found):
            return False
        if edit not in self._untold or not self._expected.scores or edit.telling:
            return True
        return self._expected.is_returned(found)

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

    @cached_property
    def _most(self) -> float:
        """What is less wrong is not explained at a higher price than what was wrong, if all of that was."""
        walk = self.examination.walk
        return inf if self._raised or walk.unexplained is not None else walk.price + _DEARER

    def _located(self, trace: Trace, patience: Patience) -> Walk:
        asked = self.examination
        accepted = asked.accepted_blocks | {asked.architecture or ""}
        walk = locate(trace, self._draw.sizes, asked.family, accepted=accepted, patience=patience)
        self.effort -= walk.places.look_ups / _LOOK_UPS
        return walk
