"""Child side: a submission that is no model class but a script, run from top to bottom as one pass.

A script fixes most of its sizes by itself. Those that it takes from constants are changed as they are asked
for, and lists of blocks are cut short, each as far as the script still runs then.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from torch import Tensor, nn

from ....reference.sizes import Sizes
from ...errors import Frame, NotLoaded
from ...questions.loading import Skipped
from ...questions.meanings import fields_of
from ...questions.recording import VisibleLocal
from ...reading.python_text import nodes
from ..building.arguments.argument_choices import assignments, choices
from ..building.calls.blueprint import BlueprintSlot, Choice, Literal, value
from ..building.calls.observing import ModelParts, observe
from ..building.calls.shortening import BLOCKS
from ..building.ways import NoModel
from ..loading.costs import TRAINS
from ..loading.execution import Loaded
from ..loading.program import source_text
from ..loading.statements import Statement
from ..tracing.mark_watcher import Watcher
from ..tracing.nothing_dropped import NothingDropped
from ..tracing.tracing import Key
from .script_pictures import pictures_in, renumbered, root_at
from .script_sizes import sizes_seen
from .script_tracing import LimitReached, ScriptTracer, TrainingBegins
from .script_ways import AS_WRITTEN, QUARTER, Way, scaled, tells_apart, unlike, whole_sizes
from .script_windows import UNUSUAL_CHANNELS, Window
from .seen_arrays import arrays_seen

_PLAIN = {**{name: (name,) for name in Sizes.__dataclass_fields__}, "image": ("height", "width")}
_SEED = 0  # of the passes by which a script is got to know


@dataclass
class ScriptPass:
    """One run of a script: what stopped it, and its sizes. Without ``pictures``, nothing was computed."""

    tracer: ScriptTracer
    loaded: Loaded
    error: tuple[Statement, BaseException] | None = None
    pictures: dict[Key, Window] = field(default_factory=dict)
    sights: list[VisibleLocal] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)

    def forget(self) -> None:
        """Lets go of the tensors: what a script leaves behind refers to itself, and would stay."""
        self.tracer.forget()
        for module in self.loaded.modules.values():
            vars(module).clear()


class Script:
    """A submission as a script: ``file`` is the module that is run from top to bottom.

    Raises NotLoaded, with the first line that failed, where it computes nothing from an image.
    """

    def __init__(self, loaded: Loaded, file: str) -> None:
        self.file = file
        self._loaded = loaded
        self._own = loaded.constants
        self._trains = False
        self._way, known = self._get_to_know()
        if not known.tracer.multiplies and any(one.reason == TRAINS for one in known.loaded.skipped):
            self._trains = True  # up to the first backward pass: nothing else computes anything
            self._way, known = self._get_to_know()
        if not known.pictures:
            raise self._no_pass(known)
        self.skipped: list[Skipped] = known.loaded.skipped

    def notes(self) -> list[str]:
        """What there is to say of how it is run."""
        names = ", ".join(sorted(self._way.constants))
        sizes = f"with other values of {names}" if names else "at its own sizes"
        sizes = "at a quarter of its own sizes, which are those of ViT-B/16" if self._way.numbers else sizes
        cut = f"; no more than {BLOCKS} blocks of a list were run" if self._way.shortened else ""
        return [
            f"graded as a script: {self.file} was run from top to bottom, {sizes}{cut}; the image that it"
            " reads and the parameters that it makes were given random values"
        ]

    def sizes_for(self, sizes: Sizes) -> Sizes:
        """The nearest sizes that the script can be run at."""
        return self._way.sizes_for(sizes)

    def run(
        self,
        sizes: Sizes,
        seed: int,
        image: Tensor | None,
        fixed: Mapping[str, Tensor],
        stops: Sequence[tuple[str, int]],
    ) -> ScriptPass:
        """One pass at sizes that ``sizes_for`` gave, recorded; without an image, only the shapes of one."""
        way = self._way
        shape = (sizes.batch, sizes.channels, sizes.height, sizes.width)
        pictures = {place: window.resized(shape) for place, window in way.pictures.items()}
        tracer = ScriptTracer(seed, fixed, image, pictures, keep_cells=image is not None)
        ran = self._executed(tracer, way.values(sizes), way.numbers_at(sizes), way.shortened, sizes, stops)
        keys = {place: tracer.places[place] for place in pictures if place in tracer.places}
        if all(place in keys and one.fits(tracer.tensors[keys[place]]) for place, one in pictures.items()):
            ran.pictures = {keys[place]: window for place, window in pictures.items()}
        return self._rooted(ran, sizes)

    def _get_to_know(self) -> tuple[Way, ScriptPass]:
        """The first way in which nothing fails, else the one that shows the script as it is."""
        constants, own = self._constants(), self._own_sizes()
        small = unlike(constants, self._own)
        others = {name: meaning for name, meaning in constants.items() if meaning != "channels"}
        # of an image with three channels it cannot be told whether that follows from a constant
        unusual = [(constants, replace(small, channels=UNUSUAL_CHANNELS), AS_WRITTEN, True)]
        ways = [
            *(unusual if others != constants else []),
            *([(others, small, AS_WRITTEN, True)] if others else []),
            *([({}, scaled(own), QUARTER, True)] if tells_apart(self._written) else []),
            ({}, own, AS_WRITTEN, True),
            ({}, own, AS_WRITTEN, False),
        ]
        tried: list[tuple[Way, ScriptPass]] = []
        for constants_there, sizes, numbers, shortened in ways:
            tried.append(self._try(constants_there, sizes, numbers, shortened))
            ran = tried[-1][1]
            if ran.error is None and ran.pictures:
                return tried[-1]
            if sizes == own and (same := [one for one in tried[:-1] if _fail_alike(one[1], ran)]):
                tried.append(same[0])  # it is the script's own fault, whatever the sizes
                break
        return tried[-1]

    def _try(
        self, constants: Mapping[str, str], sizes: Sizes, numbers: Mapping[int, int], shortened: bool
    ) -> tuple[Way, ScriptPass]:
        values = {name: value(meaning, sizes) for name, meaning in constants.items()}
        tracer = ScriptTracer(_SEED, {}, None, {}, keep_cells=False)
        ran = self._executed(tracer, values, numbers, shortened, sizes, ())
        ran.pictures = pictures_in(ran.tracer)
        places = {key: place for place, key in tracer.places.items()}
        pictures = {places[key]: window for key, window in ran.pictures.items()}
        self._rooted(ran, sizes)
        if pictures:
            of_shapes = sizes_seen(ran.tracer.records, ran.tracer.views)
            ran.seen = {**vars(sizes), **_of_modules(ran.loaded), **of_shapes}
            if "depth" in constants.values():  # no shape tells it
                ran.seen["depth"] = sizes.depth
        asked = {name for meaning in constants.values() for name in fields_of(meaning)}
        follows = {name for name in asked if ran.seen.get(name) == getattr(sizes, name)}
        fixed = {name: size for name, size in ran.seen.items() if name not in follows}
        ran.forget()
        ratio = self._mlp_ratio(ran.seen) if "embed_dim" in follows and "mlp_dim" not in follows else 0
        replaced = {old: new for old, new in numbers.items() if old in self._written}
        whole = whole_sizes(fixed, replaced)
        return Way(constants, frozenset(follows), fixed, shortened, pictures, numbers, whole, ratio), ran

    def _mlp_ratio(self, seen: Mapping[str, int]) -> int:
        """How many times wider than a token the hidden layer is; 0 where its width stands in the code."""
        width, embed_dim = seen.get("mlp_dim", 0), seen["embed_dim"]
        return 0 if width in self._written or width % embed_dim else width // embed_dim

    @property
    def _written(self) -> set[object]:
        """The numbers and texts that stand in the code."""
        files = (source_text(part) for part in self._loaded.program.parts[self.file])
        return {one.value for text in files for one in nodes(text) if isinstance(one, ast.Constant)}

    def _constants(self) -> dict[str, str]:
        """The constants that mean a size, with the meanings that are the likeliest together."""
        found = [BlueprintSlot(name, choices(name, "", one), Literal(one)) for name, one in self._own.items()]
        sizes = [one for one in found if any(map(_is_size, one.choices[:1]))]
        ways = assignments(tuple(sorted(sizes, key=lambda one: len(one.choices))))
        together = ways[0] if ways else {one: one.choices[0] for one in sizes}
        return {slot.path: str(one) for slot, one in together.items() if _is_size(one)}

    def _own_sizes(self) -> Sizes:
        """ViT-B/16, or what the constants say."""
        said: dict[str, int] = {}
        for name, meaning in self._constants().items():
            number = self._own[name]
            if isinstance(number, int):
                said |= dict.fromkeys(_PLAIN.get(meaning, ()), number)
        try:
            return Sizes(batch=1, **{name: one for name, one in said.items() if name != "batch"})
        except ValueError:  # they do not go together, and are not what the script computes with
            return Sizes()

    def _executed(
        self,
        tracer: ScriptTracer,
        constants: Mapping[str, object],
        numbers: Mapping[int, int],
        shortened: bool,
        sizes: Sizes,
        stops: Sequence[tuple[str, int]],
    ) -> ScriptPass:
        from .script_world import prepared  # here, since it loads torchvision, which not every child needs

        watcher = Watcher(stops, tracer.reference)
        program = self._loaded.program.as_script(self.file, numbers, self._trains)
        # a try of what was written is judged as any model is: without dropout
        with prepared(sizes, numbers, shortened), arrays_seen(tracer), watcher, NothingDropped(), tracer:
            loaded = replace(self._loaded, program=program).reload(constants)
        return ScriptPass(tracer, loaded, sights=watcher.sights)

    def _rooted(self, ran: ScriptPass, sizes: Sizes) -> ScriptPass:
        """The pass with the image as record 0, if there is one, and with what stopped it."""
        if ran.pictures:
            moved = root_at(ran.tracer, ran.pictures)
            ran.sights = [one._replace(reference=renumbered(one.reference, moved)) for one in ran.sights]
        ran.error = _stopped(ran, sizes)
        return ran

    def _no_pass(self, ran: ScriptPass) -> NotLoaded:
        if not ran.loaded.raised:
            return NoModel(f", and run as a script {self.file} computes nothing from an image")
        statement, _ = ran.loaded.raised[0]
        reason = next(one.reason for one in ran.loaded.skipped if one.line == statement.line)
        return NotLoaded(
            f"run as a script, {self.file} computes nothing from an image: line {statement.line}, {reason}",
            Frame(statement.file, statement.line),
        )


def _is_size(choice: Choice) -> bool:
    return not isinstance(choice, Literal) and bool(fields_of(choice))


def _of_modules(loaded: Loaded) -> dict[str, int]:
    """The sizes of the model that the script holds, no single layer; the depth is 1 without a list."""
    every = (one for module in loaded.modules.values() for one in vars(module).values())
    held = [one for one in every if isinstance(one, nn.Module) and any(True for _ in one.children())]
    largest = max(held, key=lambda one: sum(p.numel() for p in one.parameters()), default=None)
    return {"depth": 1} if largest is None else {"depth": 1, **observe(ModelParts.of(largest))}


def _stopped(ran: ScriptPass, sizes: Sizes) -> tuple[Statement, BaseException] | None:
    """The failure that the rest could not do without, or that nothing was computed of the image after."""
    order = [one for body in ran.loaded.program.statements.values() for one in body]
    made = zip(ran.tracer.records, ran.tracer.lines)
    lines = (line for one, line in made if one.image or not ran.pictures)
    last = max((_position(order, line) for line in lines), default=-1)
    at_end = (one for one in ran.loaded.raised if order.index(one[0]) >= last)
    stopped = ran.loaded.stopped or next(at_end, None)
    if stopped is None or isinstance(stopped[1], TrainingBegins) or _has_trained(ran, stopped[0]):
        return None
    is_over = isinstance(stopped[1], LimitReached)
    return None if is_over and ran.tracer.has_scores(sizes.batch, sizes.classes) else stopped


def _has_trained(ran: ScriptPass, before: Statement) -> bool:
    """Is a backward pass left out on an earlier line? Then there are no gradients, which are asked for."""
    left = (one for one in ran.loaded.skipped if one.reason == TRAINS)
    return any(one.file == before.file and one.line < before.line for one in left)


def _fail_alike(one: ScriptPass, other: ScriptPass) -> bool:
    return bool(one.pictures) and _failure(one) == _failure(other)


def _failure(ran: ScriptPass) -> tuple[str, int, type] | None:
    if ran.error is None:
        return None
    statement, error = ran.error
    return statement.file, statement.line, type(error)


def _position(order: Sequence[Statement], line: tuple[str, int]) -> int:
    file, number = line
    mine = (place for place, one in enumerate(order) if one.file == file and one.line <= number)
    return max(mine, default=-1)
