"""What is looked at where the model is not written: what reads the image of what is, or nothing at all."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from math import inf
from typing import Any

import torch
from torch import Tensor, nn

from ....reference.components import COMPONENTS
from ....reference.model_sizes import ModelSizes
from ...errors import Frame, NotLoaded
from ...reading.unwritten import early_ends, unwritten
from ..child import frames_of, is_placeholder
from ..loading.definitions import Definition
from ..loading.drawn_scripts import drawn_scripts
from ..loading.execution import Loaded
from ..loading.finding import is_named, model_classes
from ..loading.program import source_text
from .arguments.signatures import SignatureReader
from .build_attempt import BuildAttempt, Level
from .calls.blueprint import Blueprint, Builder, Call, DefinitionName
from .calls.forward_inputs import forward_inputs
from .effort import Computed, Effort, taken_apart
from .probing import run
from .trial_sizes import SMALL
from .ways import TRIES_MORE, NoModel, tried

_AXES = 3  # of tokens
_TOKENS = 2, 2  # in a batch, for which any table of positions has room
_NOTHING = ("pass", "...", "return", "return None")  # how a function ends that is not written
_INPUTS = {one.inputs for one in COMPONENTS.values()}
_Begun = tuple[Definition, Builder, BuildAttempt]


class NotWritten(NoModel):
    """Nothing of the model is written that reads an image: it says so on the line ``frame``."""

    frame: Frame

    def __init__(self, frame: Frame) -> None:
        super().__init__(frame=frame)


class _Nothing(DefinitionName):
    """Stands for what is not there: it computes nothing."""

    def resolve(self, loaded: Loaded) -> Callable[..., Any]:
        return nn.Identity


def unwritten_at(definition: Definition, attempt: BuildAttempt) -> Frame | None:
    """Where the model says that it is not written, or ends; None where it computes or returns something."""
    if attempt.computed and attempt.level > Level.NOTHING:
        return None
    if is_placeholder(attempt.error):
        return next(iter(frames_of(attempt.error)), definition.frame)
    return _end_of_forward(definition) if attempt.gives_nothing else None


def part_at(definition: Definition, builder: Builder, attempt: BuildAttempt) -> Frame | None:
    """Where what was taken for the model stands, if it is a part of one that is not there; else None.

    It has no name of a model, and takes images for tokens, or fails on images and comes farther with tokens,
    or gives nothing for either; or it fails, and learns nothing, and takes a query, a key and a value.
    """
    if is_named(definition):
        return None
    if _takes_rows_for_tokens(attempt):
        return definition.frame
    is_failed = attempt.level == Level.BUILT and attempt.error is not None
    if not (is_failed or attempt.gives_nothing):
        return None
    model = builder.build_to_try(attempt.assignment, attempt.sizes).eval()
    widths = sorted({size for one in model.parameters() for size in one.shape})
    inputs = forward_inputs(type(model).forward)
    if is_failed and not widths and inputs is not None and len(inputs.names) >= max(_INPUTS):
        return definition.frame
    of_images = _TOKENS, _TOKENS[1:]  # of several, and of one
    given = (torch.randn(*axes, one) for one in widths for axes in of_images)
    came = max((_operations(model, one) for one in given), default=0)
    is_part = came == inf if attempt.gives_nothing else came > attempt.operations
    return definition.frame if is_part else None


def _takes_rows_for_tokens(attempt: BuildAttempt) -> bool:
    """Does it map each row of an image by itself, where that has as many pixels as tokens have features?

    It may do so of one channel alone, which is a token to it, or of their mean.
    """
    rows, output = attempt.sizes.input_shape[:-1], attempt.output
    if attempt.level != Level.RAN or output is None or len(rows) < _AXES:
        return False
    return output.shape[:-1] in (rows, (rows[0], *rows[2:]))


def _operations(model: nn.Module, tokens: Tensor) -> float:
    """How many are done before it fails: no end of them where it does not."""
    counted = Computed()
    with torch.no_grad(), taken_apart(), suppress(Exception, SystemExit), counted:
        model(tokens)
        return inf
    return counted.operations


def _end_of_forward(definition: Definition) -> Frame:
    methods = (one for one in ast.walk(definition.node) if isinstance(one, ast.FunctionDef))
    lines = (one.body[-1].lineno for one in methods if one.name == "forward")
    return Frame(definition.file, next(lines, definition.node.lineno))


def first_gap(loaded: Loaded) -> Frame | None:
    """Where the first function ends early; None where each is written."""
    program = loaded.program
    texts = {part: source_text(part) for parts in program.parts.values() for part in parts}
    files = {part: text.encode() for part, text in texts.items()}
    lines = ((one, texts[one.file].split("\n")[one.line - 1]) for one in early_ends(files))
    # zeros may be all that a function is to give
    ends = [one for one, line in lines if line.strip().endswith(_NOTHING)]
    return next(iter((*ends, *(one.frame for one in unwritten(files)))), None)


def begun(reader: SignatureReader, bases: Sequence[ModelSizes], end: Frame) -> _Begun:
    """The class that computes most of an image and gives tokens. Raises NotWritten where there is none."""
    found = list(_of_images(reader, bases))
    if not found:
        raise NotWritten(end)
    return max(found, key=lambda one: one[2].computed)


def _of_images(reader: SignatureReader, bases: Sequence[ModelSizes]) -> Iterator[_Begun]:
    for definition in model_classes(reader.definitions):
        with suppress(NotLoaded):
            builder, attempt = tried(definition, reader, Effort(TRIES_MORE), bases)
            tokens = attempt.output
            if tokens is not None and tokens.dim() == _AXES and len(tokens) == attempt.sizes.batch:
                yield definition, builder, attempt


def nothing_of(reader: SignatureReader) -> _Begun:
    """What stands for a model of which nothing is written. Raises NoModel where nothing is defined at all."""
    scripts = (one for inputs in _INPUTS for one in drawn_scripts(reader.loaded, inputs))
    definition = next(chain(reader.definitions.all.values(), scripts), None)
    if definition is None:
        raise NoModel()
    builder = Builder(reader.loaded, Blueprint(Call(_Nothing(definition.module, ""), (), {}), (), ()))
    return definition, builder, run(builder, {}, SMALL)
