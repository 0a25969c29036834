"""What the checks of a submission ask: what is wrong with its stages, how it was built, how else it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import takewhile
from typing import Any

from torch import Tensor

from ...submissions.errors import NotLoaded
from ...submissions.host.session import Session
from ...submissions.questions.habits import Habit, WatchHabits
from ...submissions.questions.inventory import Inventory, TakeInventory
from ...submissions.questions.own_functions import OwnFunctions
from ...submissions.questions.plain_passes import Passes
from ...submissions.questions.uses import Slopes, UseOutcome
from ...submissions.reading.source import Source
from ..assignment.assignment import Assignment
from ..assignment.commands import command_line
from ..locating.anatomy import anatomy_of
from ..locating.steps import Finding, Step
from .asked_once import asked_once
from .coincidences import outvoted
from .crashes.crashing import Crash, diagnose
from .drawing import Draw
from .full_size import FullSize, full_size
from .passes.example import Example
from .passes.examples import Examples
from .passes.pictures import Picture
from .picture_pass import picture_pass
from .presence import absent, missing
from .repair import Repair
from .scales import fixed_scale
from .shown.beside import stages_beside
from .shown.claims import FalseClaim, false_claims
from .shown.constants import Constant, constants
from .shown.returned_paths import nothing_returned, paths_of_scores
from .told_rows import told_rows
from .unfinished import Unfinished, left_out, unfinished
from .using import ask, ask_slopes, deeper_example, run_plainly, scores_of
from .verdicts import CheckFailed, NotAsked


class Examination(Examples):
    """One submission under examination. Every method may raise the SubmissionError that ended its process."""

    is_part = False  # is it of one component alone?
    is_of_lines = False  # of lines of a script, which train nothing?

    def __init__(
        self,
        source: Source,
        session: Session,
        assignment: Assignment,
        seed: int,
        picture: Picture | None = None,
    ) -> None:
        super().__init__(source, session, assignment, seed)
        self.picture = picture
        self.passed_on = False  # does what is not written yet give back what it is given?
        self.forms: tuple[Examination, ...] = (self,)  # of the submission, in which its parts are looked for
        self.unbuilt: NotLoaded | None = None  # why there is no whole model, whose parts are seen alone
        self._shrunk: set[str] = set()
        self.noted: list[Finding] = []  # variants that no single stage shows
        self.repairs: tuple[Repair, ...] = ()  # small changes that make what is wrong right

    @property
    def command(self) -> str:
        """What grades it again in the same way, beside the submission and an assignment's own file."""
        return command_line("check", self.source.name, assignment=self.assignment, seed=self.seed)

    @asked_once
    def shown(self) -> Example:
        """The pass whose numbers people see: of the picture that was given, else the first example."""
        return self.first if self.picture is None else picture_pass(self, self.picture)

    @asked_once
    def findings(self) -> list[Finding]:
        """Every mistake and variant of any example, in the order of stages."""
        steps = (step for example in self.examples for step in example.walk.steps)
        unnamed = self.unexplained | self._stuck
        fixed = [] if self._fixed_scale is None else [self._fixed_scale]
        instead = {one.stage for one in fixed}  # of what it looks like at single sizes
        named = (one for one in steps if (one.key, one.block) not in unnamed and one.key not in instead)
        odd = outvoted(self.examples, self.family)
        found = [one for step in named for one in step.findings if (step.key, one.id) not in odd] + fixed
        if self.architecture not in self.asked_blocks and self.architecture in self._foreign:
            found.append(Finding(self._foreign[self.architecture], "post_mlp_norm", None))
        if self.diagnosis is not None and self.diagnosis.id is not None:
            found.append(Finding(self.diagnosis.id, self.diagnosis.stage, None))
        found += [one.finding for one in self.false_claims()]
        found += nothing_returned(self)
        found += [one.finding for one in self.constants().values() if one.finding is not None]
        own = (one for one in found if not self._follows(one.id))
        asked = [one for one in own if one.stage not in self.to_write and self.assignment.asks(one.stage)]
        return list({(one.id, one.stage): one for one in asked}.values())

    @cached_property
    def unexplained(self) -> set[tuple[str, int]]:
        """Key and block of stages that no known equation gives in some example.

        Where one does in another example, that is a coincidence: half the scores are those of a doubled
        scale where heads have a width of 4.
        """
        steps = (step for example in self.examples for step in example.walk.steps)
        known = "" if self._fixed_scale is None else self._fixed_scale.stage
        return {(step.key, step.block) for step in steps if not step.explained and step.key != known}

    @cached_property
    def _fixed_scale(self) -> Finding | None:
        return fixed_scale(self.examples)

    @property
    def _stuck(self) -> set[tuple[str, int]]:
        """Key and block of stages at which the walk of some example could not go on."""
        walks = [one.walk for one in self.examples]
        settled = {(step.key, step.block) for walk in walks for step in walk.steps if walk.ends_early}
        return {one.unexplained for one in walks if one.unexplained is not None} - settled

    @cached_property
    def scores_path(self) -> str:
        """Where the class scores are in what the model returns; empty where they come alone, or not."""
        return next(iter(paths_of_scores(self.examples)), "")

    @asked_once
    def beside(self) -> frozenset[str]:
        """Keys of stages that are computed, and not for what the model returns."""
        return stages_beside(self)

    @cached_property
    def diagnosis(self) -> Crash | None:
        """Why the forward pass raised an exception, if it did, and not for want of what is to be written."""
        if self.crash is None or (self.unfinished and not self.unfinished.lost):
            return None
        return diagnose(self.walk, self.crash, self.source.files, told_rows(self))

    @cached_property
    def unfinished(self) -> Unfinished | None:
        """What is not written yet, if the pass ends for want of it."""
        return left_out(self, self.absent) if self.passed_on and self.examples else unfinished(self)

    @cached_property
    def to_write(self) -> frozenset[str]:
        """Keys of the stages that are not written yet."""
        return frozenset(self.unfinished.keys if self.unfinished else ())

    @asked_once
    def false_claims(self) -> list[FalseClaim]:
        """What is shown as a stage, and was never computed by the model."""
        return false_claims(self)

    @asked_once
    def constants(self) -> Mapping[str, Constant]:
        """Stages that read a constant where something learned was expected, by key."""
        return {} if self.is_of_lines else constants(self, self.plain)

    @property
    def stopped_at(self) -> str | None:
        """The key of the stage to blame for the exception that the forward pass ended in."""
        return None if self.diagnosis is None else self.diagnosis.stage

    def variant(self, id: str, message: str) -> None:
        """Notes a variant that a property shows. Raises CheckFailed where the assignment forbids it."""
        if all(one.id != id for one in self.noted):
            self.noted.append(Finding(id, self.family.mistake(id).stage, None))
        if self.counts(id):
            raise CheckFailed(message, (id,), self.first_draw)

    def faults(self, key: str) -> list[str]:
        """Ids of what the assignment does not accept at a stage."""
        return [one.id for one in self.findings() if one.stage == key and self.counts(one.id)]

    def _follows(self, id: str) -> bool:
        """Is it what another mistake comes with, which costs marks here?"""
        known = self.family.mistake(id)
        return bool(known.follows) and self.counts(known.follows)

    def _is_excused(self, id: str) -> bool:
        """Does something make up for it that is accepted here?"""
        return any(id in self.family.mistake(one).excuses and not self.counts(one) for one in self.walk.ids)

    def counts(self, id: str) -> bool:
        """Does this finding cost marks here?"""
        is_kind = self.is_foreign and id == self._foreign.get(self.architecture)
        is_other = not self._follows(id) and not self._is_excused(id)
        return is_other and (is_kind or not self.assignment.allows(id)[0])

    @cached_property
    def _foreign(self) -> Mapping[str | None, str]:
        """By kind of block, the id of having it where another is asked for."""
        return {one.name: one.foreign for one in anatomy_of(self.family).blocks}

    def is_amiss(self, step: Step) -> bool:
        """Is this tensor computed by an equation that is not accepted, or by none that is known?"""
        return not step.explained or any(self.counts(one.id) for one in step.findings)

    def accepted_at(self, key: str) -> list[str]:
        """Ids of what was found at a stage and is accepted."""
        return [one.id for one in self.findings() if one.stage == key and not self.counts(one.id)]

    @cached_property
    def absent(self) -> frozenset[str]:
        """Keys of stages that are not there by right."""
        accepted = (self.family.mistake(id) for id in self.walk.ids if not self.counts(id))
        excused = (self.family.mistake(id).stage for id in self.walk.ids if self._is_excused(id))
        return absent(self).union(excused, *(one.without for one in accepted))

    @cached_property
    def missing(self) -> Mapping[str, int]:
        """Stages that should be there and were not found: by key, in order, the first block without them."""
        return missing(self, self.absent | self.to_write)

    def may_shrink(self, id: str) -> bool:
        """Shrinking is paid for once a mistake."""
        first = id not in self._shrunk
        self._shrunk.add(id)
        return first

    def failed_before(self, key: str) -> str | None:
        """The label of the first stage before ``key`` that is not right."""
        before = takewhile(lambda one: one.key != key, self.family.stages)
        return next((one.label for one in before if self.is_wrong(one.key)), None)

    def is_wrong(self, key: str) -> bool:
        """Is a stage computed by anything but its equation, as far as values tell?"""
        claimed = {one.finding.id for one in self.false_claims() if one.finding.stage == key}
        claimed |= {one.id for one in self.constants().values() if one.stage == key and one.id}
        computed = {one for one in self.faults(key) if self.family.mistake(one).stage != "model"} - claimed
        return bool(computed) or key in self.missing or any(at == key for at, _ in self.unexplained)

    @asked_once
    def full_shapes(self) -> FullSize:
        """The shape of every stage at the assignment's sizes, computed on shapes alone."""
        return full_size(self)

    @asked_once
    def habits(self) -> tuple[Habit, ...]:
        """What the first example's pass does beside computing."""
        self.demand_a_model()
        draw = self.first_draw
        return self.session.ask(WatchHabits(sizes=draw.sizes, seed=draw.seed, image=self.input(draw)))

    @asked_once
    def inventory(self) -> Inventory:
        """What the model holds when it is fresh."""
        self.demand_a_model()
        sizes = self.session.sizes_for(self.family.sampling.fresh)
        return self.session.ask(TakeInventory(sizes=sizes, seed=self.seed))

    @asked_once
    def own_functions(self) -> OwnFunctions:
        """What the submission's functions make of pictures, and which classes they tell."""
        full = self.assignment.full
        if "height" not in full.letters:
            raise NotAsked("the model does not read pictures")
        return self.session.own_functions(full.height, full.classes)

    @asked_once
    def used(self) -> Mapping[str, UseOutcome]:
        """The first example in every way in which models are used."""
        self.demand_a_model()
        return ask(self)

    @asked_once
    def slopes(self) -> tuple[Draw, Slopes]:
        """Of the whole model, with as many blocks as the assignment asks for, or as its code fixes."""
        self.demand_a_model()
        return ask_slopes(self)

    @asked_once
    def deeper(self) -> Example | None:
        """An example with more blocks, where these do not just go on as the first ones do."""
        return deeper_example(self)

    def forward(self, draw: Draw, images: Iterable[Tensor] = (), **options: Any) -> Passes:
        """Plain passes of the model, by ``run_plainly``. Raises NotApplicable of a script alone."""
        self.demand_a_model()
        begun = self.walk.ends_early and self.unfinished is not None
        return run_plainly(self, draw, images, begun=begun, **options)

    def model(self, draw: Draw) -> Callable[[Tensor], Tensor]:
        """The model of these sizes and weights, as a function from images to class scores in float64.

        It raises CheckFailed where the forward pass fails, and NotApplicable where there is only a script.
        """
        return lambda images: scores_of(self.forward(draw, [images]), self.scores_path, draw)

    @asked_once
    def plain(self) -> Passes:
        """Untraced passes of the first example: its image twice, another image, its image again."""
        draw = self.first_draw
        images = [self.input(one) for one in (draw, replace(draw, seed=draw.seed + 1))]
        return self.forward(draw, images, order=[0, 0, 1, 0])

    @asked_once
    def backward(self) -> Passes:
        """An untraced pass over another image of the first example's sizes, and its backward pass."""
        return self.forward(self.first_draw, backward=True)

    def demand_a_model(self) -> None:
        """Raises NotApplicable where there is only a script."""
        if self.session.is_script:
            raise NotAsked("a script has no model that could be built, or run in another way")
