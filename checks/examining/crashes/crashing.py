"""Why a forward pass ended in an exception: what met on which line, and which stage was being computed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from ....reference.stages import Stage
from ....submissions.errors import Frame, StudentCodeFailed
from ....submissions.reading.code import parsed
from ....submissions.reading.code_scopes import stored_to_be_called
from ...locating.reached import went_on
from ...locating.search.axes import names_of
from ...locating.search.nearness import same
from ...locating.search.shapes import at_test_sizes, shaped
from ...locating.walk import Walk
from .causes import Facts, Operand, cause_of
from .operations import demand_of

UNEXPLAINED = "Nothing that your code computes matches this stage or a known mistake of it"
ADVICE = "Is it written yet?"
_WORD = re.compile(r"\b[A-Za-z_]\w{0,63}\b")  # nobody misspells longer ones
_UNKNOWN = re.compile(r"has no attribute '(\w{1,64})'|name '(\w{1,64})' is not defined")
_WORDS = 5_000  # of one file; to compare with each takes up to a tenth of a millisecond


@dataclass(frozen=True)
class Crash:
    """``stage`` is the key of the one to blame; ``id`` of the catalogue where the cause is known.

    ``here`` tells whether the pass stopped there, or later, behind a stage that could not be followed. What
    is called and cannot be, such as a number, is ``stored`` on a line of its own.
    """

    stage: str
    id: str | None
    message: str
    here: bool = True
    stored: Frame | None = None


def diagnose(
    walk: Walk, error: StudentCodeFailed, files: Mapping[str, bytes], rows: Mapping[str, Stage]
) -> Crash:
    """Explains ``error``, which ended the pass that ``walk`` went through, in the words of these rows."""
    facts = Facts(walk, error, _next_stage(walk), _operands(walk))
    cause = cause_of(facts)
    if cause is not None and cause.stage not in walk.family.by_key:  # it is one of another architecture's
        cause = None
    stage = facts.stage if cause is None else cause.stage
    stored = _stored(error, files)  # which is shown then, and not the line that calls it
    if (cause is None or cause.id is None) and went_on(walk, stage):
        more = ADVICE if error.is_placeholder else _later(error)
        return Crash(stage, None, f"{UNEXPLAINED}. {more}", False, stored)
    where = "here" if stored is None else f"on line {error.frames[0].line}"
    told = [f"The forward pass stops {where}: {error}".rstrip(".") + "."]
    row = rows[stage]
    told.append(f"It happened while computing {row.label} ({row.title.lower()}).")
    told += [_given(facts, rows), demand_of(facts), _meant(error, files)]
    told += [f"What is called there is stored on line {stored.line}."] if stored is not None else []
    return Crash(stage, None if cause is None else cause.id, " ".join(filter(None, told)), stored=stored)


def _stored(error: StudentCodeFailed, files: Mapping[str, bytes]) -> Frame | None:
    """The one line that gives ``self`` what the line of the exception calls, if no call is possible."""
    if "object is not callable" not in error.message or not error.frames:
        return None
    frame = error.frames[0]
    tree = dict(parsed(files)).get(frame.file)
    lines = [] if tree is None else stored_to_be_called(tree, frame.line)
    return Frame(frame.file, lines[0]) if len(lines) == 1 else None


def _later(error: StudentCodeFailed) -> str:
    where = "".join(f", in {one.file}, line {one.line}" for one in error.frames[:1])
    return f"The forward pass stops later{where}: {error}".rstrip(".: ") + "."


def _next_stage(walk: Walk) -> str:
    """The first stage that was not reached, or the last of all."""
    reached = {step.key for step in walk.steps}
    stages = walk.family.stages
    return next((one.key for one in stages[1:] if one.key not in reached), stages[-1].key)


def _operands(walk: Walk) -> tuple[Operand, ...]:
    """The tensors of the failing call."""
    failed = walk.trace.failed
    if failed is None:
        return ()
    found = []
    for name, reference in failed.inputs:
        value, stage = walk.trace.value(reference), None
        if "float" in value.dtype:
            tensor = walk.trace.tensor(reference)
            settled = [(step.key, walk.context.stages[step.key, step.block]) for step in reversed(walk.steps)]
            alike = (key for key, one in settled if one.shape == tensor.shape and same(one, tensor))
            stage = next(alike, None)
        parameter = value.name if reference.kind == "leaf" else ""
        found.append(Operand(name, tuple(reference.shape), stage, parameter, reference))
    return tuple(found)


def _given(facts: Facts, rows: Mapping[str, Stage]) -> str:
    if not facts.operands:
        return ""
    where = at_test_sizes(facts.walk.sizes)
    mapped = facts.op in ("linear", "conv2d")  # where the bias is never to blame
    met = [one for one in facts.operands if not (mapped and one.parameter and len(one.shape) < 2)]
    given = "; ".join(_told(one, rows) for one in met)
    return f"{where[:1].upper()}{where[1:]}, {facts.op} got: {given}."


def _told(one: Operand, rows: Mapping[str, Stage]) -> str:
    """Its variable, what it is, and its size by axes."""
    size = shaped(one.shape)
    parts = [f"`{one.name}`"] if one.name else []
    if one.stage is not None:
        row = rows[one.stage]
        parts.append(f"{row.label} ({row.title.lower()})")
        size += f" ({' × '.join(names_of(row.axes))})"
    elif one.parameter:
        parts.append(f"the parameter {one.parameter}")
    return ", ".join([*parts, size]) if parts else f"a tensor of {size}"


def _meant(error: StudentCodeFailed, files: Mapping[str, bytes]) -> str:
    """For a name that nothing has: the nearest one in the code."""
    unknown = _UNKNOWN.search(error.message)
    if unknown is None or not error.frames:
        return ""
    name = unknown[1] or unknown[2]
    words = set(_WORD.findall(files.get(error.frames[0].file, b"").decode("utf-8", "replace"))) - {name}
    near = get_close_matches(name, sorted(words)[:_WORDS], n=3, cutoff=0.7)
    return f"Did you mean `{' or `'.join(one + '`' for one in near)}?" if near else ""
