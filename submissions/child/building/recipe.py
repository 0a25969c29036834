"""How to build a student's model at any size: inferred from its signature, settled and verified by trying."""

from __future__ import annotations

import ast
import difflib
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, replace

import torch
from torch import nn

from ....reference.model_sizes import AnySizes, ModelSizes
from ...errors import Frame, NotLoaded
from ...questions.meanings import VALUES, fields_of
from ...questions.pins import Pins
from ..child import frames_of, is_placeholder, quoted
from ..loading.definitions import Definition, Definitions
from ..loading.execution import Loaded
from ..loading.finding import evidence, model_classes, pinned_model
from .arguments.effects import unclear
from .arguments.signatures import SignatureReader
from .begun import NotWritten, begun, nothing_of, part_at, unwritten_at
from .build_attempt import BuildAttempt, Level
from .calls.blueprint import Builder, Choice, Literal
from .controls import Controls, verify
from .effort import Effort
from .trial_sizes import BASES, SMALL, fit
from .ways import TRIES_MORE, NoModel, tried
from .written_steps import has_methods, steps_of, without_forward

_TRIES = 250  # of one definition, if it is small: one second; once or twice of a base-sized one
_NOTHING = "nothing is written yet: there are imports, and neither a class nor a function nor a computation"
_NOT_BEGUN = "before Module.__init__() call"  # as torch words it
_MISUNDERSTOOD = (
    "; if its arguments were misunderstood, pin them in the assignment file under [model.arguments]"
)


@dataclass(frozen=True)
class Recipe:
    """How to build the model ``definition``."""

    definition: Definition
    builder: Builder
    attempt: BuildAttempt
    controls: Controls

    def of(self, loaded: Loaded) -> Recipe:
        """The same way to build the model, of other code."""
        builder = self.builder.of(loaded)
        builder.steps = steps_of(builder, self.attempt)
        return replace(self, builder=builder)

    def build(self, sizes: ModelSizes) -> nn.Module:
        """Build a fresh model at ``sizes``, which should be what ``sizes_for`` returned.

        Dtype and device are the caller's defaults. Whatever the student's code raises comes through.
        """
        return self.builder.build(self.controls.assignment, sizes)

    def sizes_for(self, sizes: AnySizes) -> AnySizes:
        """Return the sizes nearest to ``sizes`` that the model can really be built at."""
        if self.controls.square_only:
            sizes = fit(type(sizes)(**{**vars(sizes), "width": sizes.height}), {})
        return self.controls.with_derived(fit(sizes, self.controls.fixed))

    def meanings(self) -> dict[str, Choice]:
        """What each name was taken to mean, without the values that were given as they are."""
        found = self.controls.assignment.items()
        return {slot.plain: choice for slot, choice in found if not isinstance(choice, Literal)}

    @property
    def channels_last(self) -> bool:
        """Does its forward read images with their channels last?"""
        return self.builder.inputs is not None and self.builder.inputs.axes == "B H W C"

    def notes(self) -> list[str]:
        """Say what was inferred on the way."""
        one = self.definition
        notes = [f"{one.name} of {one.file} was graded, and not that of {' or '.join(one.others)}"] * bool(
            one.others
        )
        notes += [
            f"{slot.path} was taken as {_as_text(choice)}, which fits its output best"
            for slot, choice in self.controls.assignment.items()
            if _meaning(choice) != _meaning(slot.choices[0])
        ]
        if self.attempt.level == Level.BUILT and self.attempt.error is not None:
            notes.append(f"the forward pass failed while trying: {quoted(self.attempt.error)}")
        if self.attempt.level == Level.RAN:
            notes.append("the model does not return a tensor with one row of logits for each image")
        inputs = self.builder.inputs
        every = (*notes, *(inputs.notes() if inputs else ()), *self.controls.notes)
        return list(dict.fromkeys(every))  # one name may be several slots


def infer(loaded: Loaded, pins: Pins, small: ModelSizes = SMALL) -> Recipe:
    """Find the model among what was loaded, and how to build it; ``small`` are the sizes to try it at.

    Raises NotLoaded, with the class, its file and its line, where there is no model or no way to build it.
    """
    definitions = Definitions(loaded)
    found = [pinned_model(definitions, pins.model)] if pins.model else model_classes(definitions)
    pinned = {path: _pin(path, one, small) for path, one in pins.arguments.items()}
    reader = SignatureReader(loaded, definitions, pinned, type(small))
    # what the student's code prints and warns of comes up again when the model is really used
    with torch.random.fork_rng(), silence(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bases = BASES if small is SMALL else (small,)
        try:
            definition, builder, attempt = _best(reader, found, bases)
            builder.steps = steps_of(builder, attempt)
            goes_on = builder.steps or (attempt.gives_nothing and has_methods(builder))
            end = None if goes_on else unwritten_at(definition, attempt)
            if end is None and not pins.model:
                end = part_at(definition, builder, attempt)
        except NotWritten as model:
            end = model.frame
        if end is not None:
            definition, builder, attempt = begun(reader, bases, end)
        end = definition.frame if builder.steps and without_forward(builder) else end
        return _verified(definition, builder, attempt, end)


def infer_nothing(loaded: Loaded, small: ModelSizes, end: Frame | None) -> Recipe:
    """What stands for a model of which only parts are written; where there is an ``end``, it ends there.

    Before that, functions may make tokens of an image. Raises NotLoaded where nothing is defined at all.
    """
    reader = SignatureReader(loaded, Definitions(loaded), {}, type(small))
    if end is not None and small is SMALL:
        with suppress(NotWritten), torch.random.fork_rng(), silence():
            return _verified(*begun(reader, BASES, end), end)
    return _verified(*nothing_of(reader), end)


def _verified(definition: Definition, builder: Builder, attempt: BuildAttempt, end: Frame | None) -> Recipe:
    controls = verify(builder, attempt)
    builder.forget()
    builder.end = end  # only now: what is tried has none
    return Recipe(definition, builder, attempt, controls)


@contextmanager
def silence() -> Iterator[None]:
    """Nothing that is printed is seen."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def _best(
    reader: SignatureReader, found: list[Definition], bases: Sequence[ModelSizes]
) -> tuple[Definition, Builder, BuildAttempt]:
    best: tuple[float, Definition, Builder, BuildAttempt] | None = None
    undefined = reader.loaded.undefined
    failures = [undefined] if undefined else []
    for definition in found:
        promise = evidence(definition, reader.definitions) + Level.FITS
        makes_best = best is not None and best[3].level < Level.FITS and _makes(definition, best[1], reader)
        if best is not None and promise <= best[0] and not makes_best:
            continue
        try:
            effort = Effort(TRIES_MORE if best or failures else _TRIES)
            builder, attempt = tried(definition, reader, effort, bases)
            attempt = _built(definition, attempt)
        except NotLoaded as failure:
            failures.append(failure)
            continue
        unwritten = attempt.level == Level.BUILT and is_placeholder(attempt.error)
        # by what it says itself it comes no farther; features are no scores yet
        came = Level.RAN if unwritten or attempt.gives_features else attempt.level
        value = came + evidence(definition, reader.definitions)
        if failures and attempt.level < Level.FITS:
            continue  # a part, most likely; what failed was the model
        if best is None or value > best[0] or (makes_best and attempt.level == Level.FITS):
            best = (value, definition, builder, attempt)
    if best is None:
        written = (one for body in reader.loaded.program.statements.values() for one in body)
        none = NotLoaded(_NOTHING) if all(one.is_import for one in written) else NoModel()
        raise reader.loaded.cause or (failures or [none])[0]
    return best[1:]


def _makes(function: Definition, definition: Definition, reader: SignatureReader) -> bool:
    """Is it a function that puts such a model together?"""
    return not function.is_class and definition in reader.definitions.reachable(function)


def _built(definition: Definition, attempt: BuildAttempt) -> BuildAttempt:
    """Return the attempt, if anything was built. Functions of which no scores come may be a script's."""
    is_begun = attempt.level == Level.BUILT and is_placeholder(attempt.error)
    if definition.pair is not None and attempt.level < Level.FITS and not is_begun:
        raise NoModel()
    if attempt.level == Level.NOTHING and (end := unwritten_at(definition, attempt)):
        raise NotWritten(end)
    if attempt.level == Level.NOTHING and attempt.error is not None:
        for slot in attempt.assignment:
            if slot.needed and not slot.named and slot.own is None:
                raise unclear(definition, slot)
        raise NotLoaded(
            f"{definition.name} could not be built: {quoted(attempt.error)}{_advice(attempt)}",
            next(iter(frames_of(attempt.error)), definition.frame),
        )
    return attempt


def _advice(attempt: BuildAttempt) -> str:
    """What to do about a model that cannot be built: other arguments mend no slip in the code."""
    if _NOT_BEGUN in str(attempt.error):
        return ". The constructor on this line has to call super().__init__() first"
    error = attempt.error
    of_call = "unexpected keyword argument" in str(error) and error is not None and bool(frames_of(error))
    is_slip = of_call or isinstance(error, (NameError, AttributeError)) or not attempt.assignment
    return "" if is_slip else _MISUNDERSTOOD


def _pin(path: str, pinned: object, small: ModelSizes) -> Choice:
    if not isinstance(pinned, str):
        return Literal(pinned)
    if pinned.startswith("="):
        return Literal(ast.literal_eval(pinned[1:]))
    known = {**VALUES, **vars(small)}
    if pinned in known:
        return pinned
    near = difflib.get_close_matches(pinned, known, n=3, cutoff=0.4)
    raise NotLoaded(
        f"the assignment gives the argument {path!r} the meaning {pinned!r}, which is not known;"
        f" did it mean {' or '.join(near) or ', '.join(known)}? A value is written with '=' before it"
    )


def _meaning(choice: Choice) -> object:
    """Return what the choice sets, whatever its form: 32 and (32, 32) are the same."""
    return (fields_of(choice) if isinstance(choice, str) else ()) or choice


def _as_text(choice: Choice) -> str:
    return f"={choice.value!r}" if isinstance(choice, Literal) else choice
