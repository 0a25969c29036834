"""Everything that the checks of one submission share: its traces, what was located in them, how it was built.

One traced pass an example, shared by all checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from torch import Tensor

from ..reference.model_sizes import ModelSizes
from ..submissions.answers import Habit, Inventory
from ..submissions.code import marks
from ..submissions.errors import StudentCodeFailed
from ..submissions.session import Passes, Session
from ..submissions.size_limits import pass_numbers
from ..submissions.source import Source
from ..submissions.trace import Trace
from ..submissions.used import Slopes, Use
from .assignment import Assignment
from .beside import stages_beside
from .claims import FalseClaim, false_claims
from .commands import command_line
from .constants import Constant, constants
from .crashing import Crash, diagnose
from .drawing import Draw, draw_examples, is_large, noise
from .example import Example
from .family import Family
from .full_size import FullSize, full_size
from .locating.context import Context
from .locating.locate import locate
from .locating.walk import Finding, Walk
from .picture_pass import picture_pass
from .pictures import Picture
from .presence import absent, missing
from .replay import ReplayError, replay, reread
from .returned import paths_of_scores
from .steadiness import parting, unsteady
from .stops import statements
from .using import ask, ask_slopes, deeper_example
from .verdicts import CheckFailed, NotApplicable, NotAsked

_SPARE = 4  # times as many draws as examples
_LARGE_EXAMPLES = 2
_MOST_LOCATIONS = 60  # of which the examples of code with a loop over tokens take 25
_LARGE_NUMBERS = 1 << 26  # of a pass, 0.5 GB: several times that is held while it is recorded and sent

# what a block of another architecture than the assignment's is called
_FOREIGN = {"pre-norm": "pre-norm-block", "report": "report-hybrid-block", "post-norm": "post-norm-block"}


def _fewer(found: list[Draw]) -> list[Draw]:
    """Of large draws some, with two images, as far as memory goes: one hides what mixes images."""
    two = replace(found[0].sizes, batch=2)
    if pass_numbers(two) > _LARGE_NUMBERS:
        return [replace(found[0], sizes=replace(two, batch=1))]
    return [replace(draw, sizes=replace(draw.sizes, batch=2)) for draw in found[:_LARGE_EXAMPLES]]


def _told(draw: Draw) -> str:
    return ", ".join(f"{name} {size}" for name, size in vars(draw.sizes).items())


class Examination:
    """One submission under examination. Every method may raise the SubmissionError that ended its process."""

    def __init__(
        self,
        source: Source,
        session: Session,
        assignment: Assignment,
        seed: int,
        picture: Picture | None = None,
    ) -> None:
        self.source, self.session = source, session
        self.assignment, self.seed, self._picture = assignment, seed, picture
        self._shrunk: set[str] = set()
        self._walks: dict[str, Walk] = {}  # by signature: loops over heads or images run other operations
        self.left_out: list[str] = []  # sizes at which the model fails, in words
        self.noted: list[Finding] = []  # variants that no single stage shows
        self.varying: Draw | None = None  # where the scores of one image vary from pass to pass
        self.parted: int | None = None  # the record at which passes over one image part
        self._locations = 0

    @property
    def family(self) -> Family:
        """The architecture that is asked for, with its table of stages."""
        return self.assignment.family

    @cached_property
    def _traced(self) -> list[tuple[Draw, Trace]]:
        """The sizes that are asked for, as near as the model can be built, each once, with a pass at each.

        Sizes at which the model fails are left out, if there are others: a model may need an even width, say.
        Raises StudentCodeFailed where it can be built at none.
        """
        found: list[tuple[Draw, Trace]] = []
        failure: StudentCodeFailed | None = None
        for draw in self._wanted():
            try:
                found.append((draw, self.trace(draw)))
            except StudentCodeFailed as error:
                failure = error
                self.left_out.append(f"it was not built at {_told(draw)}: {error}")
        if failure is not None and not found:
            raise failure
        runs = [row for row in found if row[1].error is None]
        crashed = [row for row in found if row[1].error is not None]
        if runs:
            self.left_out += [f"it does not run at {_told(draw)}: {trace.error}" for draw, trace in crashed]
        return runs or crashed

    def _wanted(self) -> list[Draw]:
        count = self.assignment.examples
        built: dict[Draw, bool] = {}
        for draw in draw_examples(_SPARE * count, self.seed, self.family):
            one = self.buildable(draw)
            # what a model makes of them may bring equal axes back
            built[one] = self.family.anatomy.tells_apart(one.sizes)
            if sum(built.values()) == count:
                break
        found = ([one for one in built if built[one]] or list(built))[:count]
        return [self.buildable(draw) for draw in _fewer(found)] if is_large(found[0].sizes) else found

    @property
    def command(self) -> str:
        """What grades it again in the same way, beside the submission and an assignment's own file."""
        return command_line("check", self.source.name, assignment=self.assignment, seed=self.seed)

    def buildable(self, draw: Draw) -> Draw:
        return replace(draw, sizes=self.session.sizes_for(draw.sizes))

    @property
    def first_draw(self) -> Draw:
        """What the stages are located on."""
        return self._first.draw

    @cached_property
    def examples(self) -> list[Example]:
        """All passes: located on the first, replayed on those that run the same operations.

        Where the plan does not hold on a trace, that trace is located afresh.
        """
        found = [self._first]
        for draw, trace in self._traced[1:]:
            example = self.replayed(draw, trace)
            if example is None and self.parted is None:
                example = self.located(draw, trace)
            found += [] if example is None else [example]
        return found

    @property
    def walk(self) -> Walk:
        return self._first.walk

    @cached_property
    def _first(self) -> Example:
        example = self.located(*self._traced[0])
        self.left_out += [
            f"{path or 'what the model returns'} is returned, {why}, and is not judged"
            for path, why in example.trace.left_out
        ]
        return example

    @cached_property
    def shown(self) -> Example:
        """The pass whose numbers people see: of the picture that was given, else the first example."""
        return self._first if self._picture is None else picture_pass(self, self._picture)

    @property
    def full(self) -> ModelSizes:
        """The assignment's sizes, with the first example's depth and a batch that is laid out as there."""
        first = self.first_draw.sizes
        return replace(self.assignment.full, batch=min(first.batch, 2), depth=first.depth)

    def input(self, draw: Draw) -> Tensor:
        """What is read, drawn at random."""
        return draw.image

    def trace(
        self,
        draw: Draw,
        image: Tensor | None = None,
        fixed: Mapping[str, Tensor] | None = None,
        drawn: int | None = None,
    ) -> Trace:
        given = draw.image if image is None else image
        return self.session.trace(draw.sizes, draw.seed, given, fixed=fixed, drawn=drawn)

    def example(self, draw: Draw, drawn: int | None = None) -> Example:
        """A draw traced, with the located stages in it; ``drawn`` is a seed of its own for the parameters."""
        trace = self.trace(draw, drawn=drawn)
        return self.replayed(draw, trace) or self.located(draw, trace)

    def replayed(self, draw: Draw, trace: Trace) -> Example | None:
        """The stages where they were on an earlier pass; None where they are not there."""
        walk = self._walks.get(trace.signature, self.walk)
        try:
            return Example(draw, trace, walk, tuple(replay(walk, trace, draw.sizes)))
        except (ReplayError, RuntimeError, ValueError, LookupError):
            # the others where sizes do not go together, or fewer tensors are put together than before
            return None

    @cached_property
    def before(self) -> Context:
        """The student's tensors of the first example, to compare with those of ``again``."""
        return reread(self.walk, self._first.trace, self._first.draw.sizes)

    def again(self, image: Tensor | None = None, fixed: Mapping[str, Tensor] | None = None) -> Context:
        """The student's tensors of the first example on another image or with other parameters.

        Raises NotApplicable where other operations run then.
        """
        draw = self._first.draw
        try:
            return reread(self.walk, self.trace(draw, image, fixed), draw.sizes)
        except ReplayError as error:
            if parting(self, draw, self._first.trace) is not None:
                raise unsteady() from None
            raise NotApplicable(f"the code takes another way then: {error}") from None

    @property
    def is_exhausted(self) -> bool:
        """Has enough been located? Each time takes as long as ten passes."""
        return self._locations >= _MOST_LOCATIONS

    @cached_property
    def _operations_differ(self) -> bool:
        return len({trace.signature for _, trace in self._traced}) > 1

    def located(self, draw: Draw, trace: Trace) -> Example:
        # where all examples run the same operations, so do passes over one of them
        if self.parted is None and trace.signature not in self._walks and self._operations_differ:
            self.parted = parting(self, draw, trace)
        self._locations += 1
        walk = locate(trace, draw.sizes, self.family)
        self._walks.setdefault(trace.signature, walk)
        return Example(draw, trace, walk, tuple(replay(walk, trace, draw.sizes)))

    @cached_property
    def crash(self) -> StudentCodeFailed | None:
        """The exception that the forward pass ended in, if it did; after its logits, a script may fail."""
        reached = any(step.key == "logits" for step in self.walk.steps)
        return None if self.session.is_script and reached else self._first.trace.error

    @cached_property
    def findings(self) -> list[Finding]:
        """Every mistake and variant of any example, in the order of stages."""
        steps = (step for example in self.examples for step in example.walk.steps)
        unnamed = self._unexplained | self._stuck
        found = [one for step in steps if (step.key, step.block) not in unnamed for one in step.findings]
        if self.is_foreign and self.architecture in _FOREIGN:
            found.append(Finding(_FOREIGN[self.architecture], "post_mlp_norm", None))
        if self.diagnosis is not None and self.diagnosis.id is not None:
            found.append(Finding(self.diagnosis.id, self.diagnosis.stage, None))
        found += [one.finding for one in self.false_claims]
        found += [one.finding for one in self.constants.values() if one.finding is not None]
        return list({(one.id, one.stage): one for one in found}.values())

    @cached_property
    def _unexplained(self) -> set[tuple[str, int]]:
        """Key and block of stages that no known equation gives in some example.

        Where one does in another example, that is a coincidence: half the scores are those of a doubled
        scale where heads have a width of 4.
        """
        steps = (step for example in self.examples for step in example.walk.steps)
        return {(step.key, step.block) for step in steps if not step.explained}

    @property
    def _stuck(self) -> set[tuple[str, int]]:
        """Key and block of stages at which the walk of some example could not go on."""
        return {one.walk.unexplained for one in self.examples if one.walk.unexplained is not None}

    @cached_property
    def scores_path(self) -> str:
        """Where the class scores are in what the model returns; empty where they come alone, or not."""
        return next(iter(paths_of_scores(self.examples)), "")

    @cached_property
    def beside(self) -> frozenset[str]:
        """Keys of stages that are computed, and not for what the model returns."""
        return stages_beside(self)

    @cached_property
    def diagnosis(self) -> Crash | None:
        """Why the forward pass raised an exception, if it did."""
        return None if self.crash is None else diagnose(self.walk, self.crash, self.source.files)

    @cached_property
    def watched(self) -> Trace:
        """One pass of the first example, looked at where the breakpoint marks stand."""
        draw = self.first_draw
        # without any mark, one that is never reached still has variables looked at
        stops = statements(self.source.files, marks(self.source.files)) or [("", 0)]
        return self.session.trace(draw.sizes, draw.seed, draw.image, marks=stops)

    @cached_property
    def false_claims(self) -> list[FalseClaim]:
        """What is shown as a stage, and was never computed by the model."""
        return false_claims(self)

    @cached_property
    def constants(self) -> Mapping[str, Constant]:
        """Stages that read a constant where something learned was expected, by key."""
        return constants(self)

    @cached_property
    def redrawn(self) -> Example:
        """The first example once more, with other parameters and everything else as it was."""
        return self.example(self.first_draw, drawn=self.first_draw.seed + 1)

    @property
    def stopped_at(self) -> str | None:
        """The key of the stage to blame for the exception that the forward pass ended in."""
        return None if self.diagnosis is None else self.diagnosis.stage

    @property
    def is_foreign(self) -> bool:
        """Is this a block that the assignment does not ask for?"""
        return self.architecture is not None and self.architecture not in self.assignment.architectures

    def variant(self, id: str, message: str) -> None:
        """Notes a variant that a property shows. Raises CheckFailed where the assignment forbids it."""
        if all(one.id != id for one in self.noted):
            self.noted.append(Finding(id, self.family.mistake(id).stage, None))
        if self.counts(id):
            raise CheckFailed(message, (id,), self.first_draw)

    def faults(self, key: str) -> list[str]:
        """Ids of what the assignment does not accept at a stage."""
        return [one.id for one in self.findings if one.stage == key and self.counts(one.id)]

    def counts(self, id: str) -> bool:
        """Does this finding cost marks here?"""
        foreign = self.is_foreign and id == _FOREIGN.get(self.architecture or "")
        return foreign or not self.assignment.allows(id)[0]

    @property
    def architecture(self) -> str | None:
        return self.walk.architecture

    @property
    def keys(self) -> Sequence[str]:
        """Of the stages that are looked for, in order."""
        return [stage.key for stage in self.family.stages[1:]]

    @cached_property
    def absent(self) -> frozenset[str]:
        """Keys of stages that are not there by right."""
        return absent(self)

    @cached_property
    def missing(self) -> Mapping[str, int]:
        """Stages that should be there and were not found: by key, in order, the first block without them."""
        return missing(self)

    def may_shrink(self, id: str) -> bool:
        """Shrinking is paid for once a mistake."""
        first = id not in self._shrunk
        self._shrunk.add(id)
        return first

    def failed_before(self, key: str) -> str | None:
        """The label of the first stage before ``key`` that is not right."""
        for stage in self.family.stages:
            if stage.key == key:
                return None
            if self.is_wrong(stage.key):
                return stage.label
        return None

    def is_wrong(self, key: str) -> bool:
        """Is a stage computed by anything but its equation, as far as values tell?"""
        claimed = {one.finding.id for one in self.false_claims if one.finding.stage == key}
        claimed |= {one.id for one in self.constants.values() if one.stage == key and one.id}
        computed = set(self.faults(key)) - claimed
        return bool(computed) or key in self.missing or any(at == key for at, _ in self._unexplained)

    @cached_property
    def full_shapes(self) -> FullSize:
        """The shape of every stage at the assignment's sizes, computed on shapes alone."""
        return full_size(self)

    @cached_property
    def habits(self) -> tuple[Habit, ...]:
        """What the first example's pass does beside computing."""
        self.demand_a_model()
        draw = self.first_draw
        return self.session.habits(draw.sizes, draw.seed, draw.image)

    @cached_property
    def inventory(self) -> Inventory:
        """What the model holds when it is fresh."""
        self.demand_a_model()
        return self.session.inventory(self.session.sizes_for(self.family.anatomy.fresh), self.seed)

    @cached_property
    def used(self) -> dict[str, Use]:
        """The first example in every way in which models are used."""
        self.demand_a_model()
        return ask(self)

    @cached_property
    def slopes(self) -> tuple[Draw, Slopes]:
        """Of the whole model, with as many blocks as the assignment asks for, or as its code fixes."""
        self.demand_a_model()
        return ask_slopes(self)

    @cached_property
    def deeper(self) -> Example | None:
        """An example with more blocks, where these do not just go on as the first ones do."""
        return deeper_example(self)

    @property
    def signatures(self) -> Mapping[str, Walk]:
        """What was located in the examples, by the operations that run there."""
        return {one.trace.signature: one.walk for one in self.examples}

    def forward(self, draw: Draw, images: Iterable[Tensor] = (), **options: object) -> Passes:
        """Plain passes of the model. Raises NotApplicable where there is only a script."""
        self.demand_a_model()
        given = list(images) or [noise(draw.sizes, draw.seed)]
        return self.session.forward(draw.sizes, draw.seed, given, **options)  # type: ignore[arg-type]  # passed on

    @property
    def prints_in_passes(self) -> bool:
        """Was anything printed while the model was traced? A script may call what prints for it."""
        return bool(self.examples) and not self.session.is_script and self.session.child.prints_in_passes

    @cached_property
    def plain(self) -> Passes:
        """Untraced passes of the first example: its image twice, another image, its image again."""
        draw = self.first_draw
        return self.forward(draw, [draw.image, noise(draw.sizes, draw.seed + 1)], order=[0, 0, 1, 0])

    def demand_a_model(self) -> None:
        """Raises NotApplicable where there is only a script."""
        if self.session.is_script:
            raise NotAsked("a script has no model that could be built, or run in another way")
