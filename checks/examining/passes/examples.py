"""The passes of a submission that all checks share: at sizes drawn at random, with the stages located."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import islice

from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ....submissions.errors import OutOfMemory, StudentCodeFailed
from ....submissions.host.session import Session
from ....submissions.host.trace import Trace
from ....submissions.questions.inventory import TakeInventory
from ....submissions.questions.size_limits import is_large, pass_numbers
from ....submissions.reading.code import marks
from ....submissions.reading.source import Source
from ...architecture.family import Family
from ...assignment.assignment import Assignment
from ...locating.anatomy import anatomy_of
from ...locating.context import Context
from ...locating.locate import likeliest, locate
from ...locating.walk import Walk
from ..asked_once import asked_once
from ..drawing import Draw, draw_examples, few_of_large
from ..stops import statements
from ..verdicts import NotApplicable
from .example import Example
from .exchanged_names import as_called
from .lacking import as_unwritten
from .replay import ReplayError, replay, reread
from .steadiness import parting, unsteady

_SPARE = 4  # times as many draws as examples
_MOST_LOCATIONS = 60  # of which the examples of code with a loop over tokens take 20
_ENOUGH = 4  # examples, where no known equation leads far, and each is looked at for seconds
_MOST_LOOK_UPS = 60_000  # for all examples; usual code takes some hundred for each
_ANYWHERE = [("", 0)]  # a mark that is never reached: variables are looked at all the same
_BYTES_OF_A_NUMBER = 40  # while a pass is recorded and sent: four times in float64, and what the code holds


def _told(draw: Draw) -> str:
    return ", ".join(f"{name} {size}" for name, size in vars(draw.sizes).items())


class Examples:
    """The passes of one submission. Every method may raise the SubmissionError that ended its process."""

    def __init__(self, source: Source, session: Session, assignment: Assignment, seed: int) -> None:
        self.source, self.session, self.assignment, self.seed = source, session, assignment, seed
        self.examples: list[Example] = []  # all passes, once they are located
        self._traced: list[tuple[Draw, Trace]] = []
        self._walks: dict[str, Walk] = {}  # by signature: loops over heads or images run other operations
        self._believed = frozenset[str]()  # of the accepted kinds of blocks, once a pass is located
        self._locations = self.look_ups = 0  # of single values, in all passes
        self.left_out: list[str] = []  # sizes at which the model fails, in words
        self.failing: list[Draw] = []  # those draws
        self.parted: int | None = None  # the record at which passes over one image part
        self.varying: Draw | None = None  # where the scores of one image vary from pass to pass

    @property
    def family(self) -> Family:
        """The architecture that is asked for, with its table of stages."""
        return self.assignment.family

    def trace_examples(self) -> None:
        """A pass at each of the sizes that are asked for, as near as the model can be built, each once.

        Sizes at which the model fails, or takes too much memory, are left out, if there are others: it may
        need an even width, say. What says that it is not written yet is not: others may have no block that
        would say so. Raises what the last one raised, StudentCodeFailed or OutOfMemory, where there are none.
        """
        found: list[tuple[Draw, Trace]] = []
        failure: StudentCodeFailed | OutOfMemory | None = None
        for draw in self._wanted():
            try:
                found.append((draw, self.trace(draw)))
            except (StudentCodeFailed, OutOfMemory) as error:
                failure = error
                self._leave_out(draw, "could not be built", error)
        if failure is not None and not found:
            raise failure
        runs = [row for row in found if row[1].error is None]
        crashed = [(draw, trace, trace.error) for draw, trace in found if trace.error is not None]
        kept = [(draw, trace) for draw, trace, error in crashed if error.is_placeholder or not runs]
        self._traced = kept or runs
        if not kept:
            for draw, _, raised in crashed:
                self._leave_out(draw, "fails", raised)

    def _leave_out(self, draw: Draw, how: str, error: Exception) -> None:
        self.failing.append(draw)
        self.left_out.append(f"the model {how} with {_told(draw)}: {error}")

    def _wanted(self) -> list[Draw]:
        count = self.assignment.examples
        built, small = list[Draw](), list[Draw]()
        draws = draw_examples(_SPARE * count, self.seed, self.family)
        coincidences = self.family.sampling.coincidences
        while some := list(islice(draws, count - len(small))):
            for draw, sizes in zip(some, self.session.each_sizes_for([one.sizes for one in some])):
                # what a model makes of them may bring equal axes back, or a thousand tokens
                built.append(replace(draw, sizes=sizes))
                if not coincidences(sizes) and not is_large(sizes):
                    small.append(built[-1])
        if small:
            return small
        found = sorted(built, key=lambda one: coincidences(one.sizes))
        if is_large(found[0].sizes):
            return [*map(self.buildable, few_of_large(found))]
        return found[:count]

    def buildable(self, draw: Draw) -> Draw:
        return replace(draw, sizes=self.session.sizes_for(draw.sizes))

    def locate_examples(self, believed: frozenset[str] = frozenset()) -> None:
        """Find the stages in the first pass, and replay them on those that run the same operations.

        Where the plan does not hold on a trace, that trace is located afresh, as far as that is affordable.
        Blocks are of the kinds that are ``believed``, where it is known which these are.
        """
        self._believed, (first, *others) = believed, self._traced
        self.examples = [self.located(*first)]
        self.left_out += [
            f"{path or 'what the model returns'} is returned but not checked: it {why}"
            for path, why in self.first.trace.left_out
        ]
        for draw, trace in others:
            example = self.replayed(draw, trace)
            if example is None and self.parted is None and self._is_affordable:
                example = self.located(draw, trace)
            self.examples += [] if example is None else [example]

    @property
    def first(self) -> Example:
        """The pass that the stages are located on."""
        return self.examples[0]

    @property
    def first_draw(self) -> Draw:
        return self.first.draw

    @property
    def walk(self) -> Walk:
        return self.first.walk

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
        """One pass. Raises NotApplicable where it takes more memory than those of the examples may."""
        if not self.has_room_for(draw.sizes):
            raise NotApplicable(f"a pass with {_told(draw)} takes too much memory to be looked at")
        given = self.input(draw) if image is None else image
        trace = self.session.trace(draw.sizes, draw.seed, given, fixed=fixed, drawn=drawn)
        return as_unwritten(trace, self.source.files)

    def has_room_for(self, sizes: ModelSizes) -> bool:
        """Does a pass take little memory, or no more than one that was looked at?"""
        drawn = [draw.sizes for draw, _ in self._traced] or [sizes]
        room = self.assignment.limits.memory_bytes // _BYTES_OF_A_NUMBER
        return pass_numbers(sizes) <= max(room, *map(pass_numbers, drawn))

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

    @asked_once
    def before(self) -> Context:
        """The student's tensors of the first example, to compare with those of ``again``."""
        return reread(self.walk, self.first.trace, self.first.draw.sizes)

    def again(self, image: Tensor | None = None, fixed: Mapping[str, Tensor] | None = None) -> Context:
        """The student's tensors of the first example on another image or with other parameters.

        Raises NotApplicable where other operations run then.
        """
        draw = self.first.draw
        try:
            return reread(self.walk, self.trace(draw, image, fixed), draw.sizes)
        except ReplayError as error:
            if parting(self.first.trace, lambda: self.trace(draw)) is not None:
                raise unsteady() from None
            raise NotApplicable(f"the code runs other operations then: {error}") from None

    @property
    def is_exhausted(self) -> bool:
        """Has enough been located? Each time takes as long as ten passes."""
        return self._locations >= _MOST_LOCATIONS

    @property
    def _is_affordable(self) -> bool:
        return len(self.examples) < _ENOUGH or self.look_ups < _MOST_LOOK_UPS

    @property
    def _operations_differ(self) -> bool:
        return len({trace.signature for _, trace in self._traced}) > 1

    def located(self, draw: Draw, trace: Trace) -> Example:
        # where all examples run the same operations, so do passes over one of them
        if self.parted is None and trace.signature not in self._walks and self._operations_differ:
            self.parted = parting(trace, lambda: self.trace(draw))
        self._locations += 1
        before = next(iter(self._walks.values()), None)
        if before is None and not self._believed:
            walk, self._believed = likeliest(trace, draw.sizes, self.family, self.accepted_blocks)
        else:
            walk = locate(trace, draw.sizes, self.family, before, self.believed_blocks)
        believed = self.believed_blocks
        likelier = {one.name for one in anatomy_of(self.family).blocks if one.like in walk.ids}
        if likelier and self._uses_all(draw, trace):
            believed |= likelier
            walk = locate(trace, draw.sizes, self.family, before, believed)
        again = partial(locate, trace, draw.sizes, self.family, accepted=believed)
        walk = as_called(walk, partial(self._watched, draw, _ANYWHERE), again)
        self.look_ups += walk.places.look_ups
        self._walks[trace.signature] = walk  # one that did not hold here was found where more sizes are equal
        return Example(draw, trace, walk, tuple(replay(walk, trace, draw.sizes)))

    def _uses_all(self, draw: Draw, trace: Trace) -> bool:
        """Is no parameter left over? Who forgets a norm has one; in another kind of block there is none."""
        if self.session.is_script:
            return False
        held = self.session.ask(TakeInventory(sizes=draw.sizes, seed=draw.seed)).tensors
        return {one.name for one in held if one.kind == "parameter"} <= {leaf.name for leaf in trace.leaves}

    @asked_once
    def redrawn(self) -> Example:
        """The first example once more, with other parameters and everything else as it was."""
        return self.example(self.first_draw, drawn=self.first_draw.seed + 1)

    @property
    def signatures(self) -> Mapping[str, Walk]:
        """What was located in the examples, by the operations that run there; the first one's goes first."""
        return {one.trace.signature: one.walk for one in reversed(self.examples)}

    @property
    def crash(self) -> StudentCodeFailed | None:
        """The exception that the forward pass ended in, if it did; after its logits, a script may fail."""
        reached = any(step.key == "logits" for step in self.walk.steps)
        return None if self.session.is_script and reached else self.first.trace.error

    @asked_once
    def watched(self) -> Trace:
        """One pass of the first example, looked at where the breakpoint marks stand."""
        draw = self.first_draw
        # without any mark, one that is never reached still has variables looked at
        return self._watched(draw, statements(self.source.files, marks(self.source.files)) or _ANYWHERE)

    def _watched(self, draw: Draw, stops: Sequence[tuple[str, int]]) -> Trace:
        return self.session.trace(draw.sizes, draw.seed, draw.image, marks=stops)

    @property
    def architecture(self) -> str | None:
        return self.walk.architecture if self.examples else None

    @property
    def is_foreign(self) -> bool:
        """Is this a block that the assignment does not accept?"""
        return self.architecture is not None and self.architecture not in self.accepted_blocks

    @property
    def asked_blocks(self) -> Sequence[str]:
        """The kinds of blocks that the assignment asks for."""
        return self.assignment.architectures

    @cached_property
    def accepted_blocks(self) -> frozenset[str]:
        """The kinds of blocks that it accepts: what it asks for, and what it allows as a variant."""
        kinds = (one for one in anatomy_of(self.family).blocks if self.assignment.allows(one.foreign)[0])
        return frozenset((*self.asked_blocks, *(one.name for one in kinds)))

    @property
    def believed_blocks(self) -> frozenset[str]:
        """Those of them that the first pass was explained by."""
        return self._believed or self.accepted_blocks

    @property
    def keys(self) -> Sequence[str]:
        """Of the stages that are looked for, in order."""
        return [stage.key for stage in self.family.stages[1:]]
