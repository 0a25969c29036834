"""How a definition's arguments may be understood, and the first way in which it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import suppress

from ....reference.model_sizes import ModelSizes
from ....reference.sizes import Sizes
from ...errors import Frame, NotLoaded
from ...questions.meanings import fields_of
from ..loading.definitions import Definition
from .arguments.effects import understood
from .arguments.signatures import SignatureReader
from .build_attempt import BuildAttempt, Level
from .calls.blueprint import Blueprint, Builder, Literal
from .effort import Effort
from .own_call import own_calls
from .own_images import have_channels_last, with_own_images, with_own_sides
from .probing import Search
from .trial_sizes import SMALL

TRIES_MORE = 75  # of each definition after the most likely one


class NoModel(NotLoaded):
    """Nothing is there that computes scores from an image, though nothing failed."""

    def __init__(self, beside: str = "", frame: Frame | None = None) -> None:
        super().__init__(f"no model was found: no class is derived from nn.Module{beside}", frame)


def tried(
    definition: Definition, reader: SignatureReader, effort: Effort, bases: Sequence[ModelSizes]
) -> tuple[Builder, BuildAttempt]:
    """The first way in which it runs, or the likeliest one. Raises NotLoaded where none is known."""
    failures: list[NotLoaded] = []
    found: list[tuple[Builder, BuildAttempt]] = []
    for way in _ways(definition, reader, found):
        if isinstance(way, NotLoaded):
            failures.append(way)
            continue
        builder = Builder(reader.loaded, way)
        search = Search(builder, effort, _all_bases(builder, reader, bases))
        attempt = search.run()
        if attempt.level == Level.FITS and have_channels_last(reader.definitions):
            attempt = search.laid_out(attempt.assignment, attempt.sizes, "B H W C") or attempt
        if not found and _is_understood(attempt):
            return builder, attempt
        if found and _is_better(attempt, found[0][1]) and _is_meant(attempt, found[0][1], reader, definition):
            return builder, attempt
        found.append((builder, attempt))
        if attempt.is_bug:
            break
    if not found:
        raise (*failures, NoModel())[0]
    return found[0] if _begins(found[0][1]) else max(found, key=lambda one: one[1].came_to)


def _begins(attempt: BuildAttempt) -> bool:
    """Is it built, and something computed in a pass?"""
    return attempt.level > Level.BUILT or (attempt.level == Level.BUILT and attempt.operations > 0)


def _is_understood(attempt: BuildAttempt) -> bool:
    """Does it run, with nothing that speaks against what any argument was taken for?"""
    return attempt.level >= Level.RAN and not _doubted(attempt)


def _doubted(attempt: BuildAttempt) -> set[str]:
    """Plain names of all where it does not run; else of what nothing confirms.

    That is what is contradicted, has to keep its value, or says a part of what another one says: a ``height``
    beside an image size may be that of a tower of blocks.
    """
    if attempt.level < Level.RAN:
        return {slot.plain for slot in attempt.assignment}
    named = {slot: one for slot, one in attempt.assignment.items() if slot.named}
    kept = {slot for slot, one in named.items() if isinstance(one, Literal) and one is not slot.choices[0]}
    said = {slot: {*fields_of(one)} for slot, one in named.items() if isinstance(one, str)}
    against = {slot for slot, fields in said.items() if attempt.contradicted & fields}
    again = {slot for slot, fields in said.items() if any(fields < others for others in said.values())}
    return {slot.plain for slot in kept | against | again}


def _is_better(attempt: BuildAttempt, first: BuildAttempt) -> bool:
    """Does it fit where the first did not run, or say as much, and nothing that is contradicted?"""
    if first.level < Level.RAN:
        return attempt.level == Level.FITS and attempt.is_cut_evenly
    return attempt.is_perfect and attempt.claimed >= first.claimed


def _is_meant(
    attempt: BuildAttempt, first: BuildAttempt, reader: SignatureReader, definition: Definition
) -> bool:
    """Does it read images of a side that is chosen, or that the code says, if it says one?

    What a name was taken for says nothing where no model could be built so.
    """
    if "height" in attempt.claimed or first.level < Level.BUILT:
        return True
    said = set()
    for slot, choice in first.assignment.items():
        if slot.named and choice in ("image", "height"):
            said |= {slot.own.value} if slot.own else set()
            with suppress(LookupError):
                said.add(reader.definitions.written_value(slot.plain, definition))
    sides = {one for one in said if type(one) is int}
    return not sides or getattr(attempt.sizes, "height", None) in sides


def _all_bases(
    builder: Builder, reader: SignatureReader, bases: Sequence[ModelSizes]
) -> Iterator[ModelSizes]:
    """With images as the code makes them: at first where it is given no sizes, and has its own."""
    are_images, has_sizes = reader.kind is Sizes, bool(builder.blueprint.slots)
    if are_images and not has_sizes:
        yield from with_own_images(SMALL, reader.definitions)
    yield from bases
    if are_images and has_sizes:
        yield from with_own_images(SMALL, reader.definitions)
    if are_images:
        yield from with_own_sides(SMALL, reader.definitions)


def _ways(
    definition: Definition, reader: SignatureReader, tried: Sequence[tuple[Builder, BuildAttempt]]
) -> Iterator[Blueprint | NotLoaded]:
    """How its arguments may be understood: by their names, by what they do, and as the student gives them.

    What is doubted is told by the first attempt that was ``tried``.
    """
    yield _understood(definition, reader)
    if reader.pins:  # then the assignment says what they mean
        return
    if tried and reader.kind is Sizes and (doubted := _doubted(tried[0][1])):
        yield _understood(definition, reader, doubted)
    yield from own_calls(reader.loaded, definition)


def _understood(
    definition: Definition, reader: SignatureReader, doubted: Set[str] = frozenset()
) -> Blueprint | NotLoaded:
    """By names and effects; or why that cannot be."""
    try:
        return understood(reader.loaded, definition, reader.blueprint(definition), doubted)
    except NotLoaded as failure:
        return failure
