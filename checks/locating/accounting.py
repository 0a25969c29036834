"""How much of a pass that ends for want of code an explanation accounts for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import partial

from torch import Tensor

from ...submissions.host.trace import Reference, Trace, Value
from .in_hand import at_hand, is_turned
from .search.nearness import fingerprint
from .walk import Walk

_UNUSED = 2  # parameters, such as a token and a table: any block has more
_ENDS = ("positioned_tokens", "logits")
_AXES = 2  # of a matrix, at the least
_NUMBER = re.compile(r"\d+")

_Weight = str | int  # by its name; of a script's, which have none, the number of its record


def accounted(walk: Walk) -> int:
    """How many of the tensors that depend on the image are stages, or went into one.

    What the line that raised had in its variables counts once more, if it is one by itself.
    """
    return _records(walk).bit_count() + _in_hand(walk).bit_count()


def to_account_for(walk: Walk) -> int:
    """How many there are."""
    return sum(_counts(walk.trace, one) for one in walk.trace.records) + len(_variables(walk))


def matrices_left(walk: Walk) -> int:
    """How many weights are used for none of the stages that were found, nor as those are in another block."""
    left = _weights(walk.trace, _left(walk))
    every = _weights(walk.trace, (one for one in walk.trace.records if _counts(walk.trace, one)))
    found = {_in_any_block(name) for name in every - left}
    return sum(_in_any_block(name) not in found for name in left)


def without_blocks(walk: Walk) -> bool:
    """Are scores computed of the embedded tokens, and is there nothing beside them that may be a block?"""
    ends = [step.found.record for step in walk.steps if step.found and step.key in _ENDS]
    if walk.blocks or walk.trace.unread > _UNUSED or len(ends) < len(_ENDS):
        return False
    return not any(min(ends) <= one.number < max(ends) for one in _left(walk))


def _left(walk: Walk) -> list[Value]:
    """The records of what depends on the image and went into no stage."""
    known = _records(walk)
    return [one for one in walk.trace.records if _counts(walk.trace, one) and not known >> one.number & 1]


def _weights(trace: Trace, records: Iterable[Value]) -> set[_Weight]:
    """Those that these records read."""
    read = {one for record in records for one in record.inputs}
    leaves = (trace.leaves[one.number] for one in read if one.kind == "leaf")
    named = (one.name for one in leaves if _is_weight(one))
    return {*named, *(one.number for one in read if one.kind == "record" and _is_drawn(trace, one))}


def _in_any_block(weight: _Weight) -> _Weight:
    """Without the first number in its name, which tells a block from others."""
    return _NUMBER.sub("", weight, count=1) if isinstance(weight, str) else weight


def _is_weight(leaf: Value) -> bool:
    return leaf.kind == "parameter" and len(leaf.shape) >= _AXES


def _is_drawn(trace: Trace, read: Reference) -> bool:
    """Is it a matrix made of what a script has drawn, and not of the image?"""
    if trace.records[read.number].image or len(read.shape) < _AXES:
        return False
    return any(trace.records[one].op == "constant" for one in trace.ancestors(read))


def _counts(trace: Trace, one: Value) -> bool:
    """Does it depend on the image, and is no further result of the operation before it?"""
    return one.image and not (one.number and one.is_made_with(trace.records[one.number - 1]))


def _records(walk: Walk) -> int:
    """A bit for each record that is accounted for."""
    made_of = walk.once("made of", lambda: _made_of(walk.trace))
    records = {place.record for step in walk.steps if step.found for place in step.found.places}
    records |= {one.began for one in walk.made.values()}
    known = 0
    for record in records:
        known |= made_of[record]
    return known


def _made_of(trace: Trace) -> list[int]:
    """For each record a bit for every one that it is made of, and for itself."""
    found: list[int] = []
    for one in trace.records:
        bits = int(_counts(trace, one)) << one.number
        for read in one.inputs:
            bits |= found[read.number] if read.kind == "record" else 0
        found.append(bits)
    return found


def _variables(walk: Walk) -> list[Tensor]:
    every = dict.fromkeys(reference for _, reference in at_hand(walk.context))
    values = ((walk.trace.value(one), one) for one in every)
    return [walk.trace.tensor(one) for value, one in values if value.image and "float" in value.dtype]


def _in_hand(walk: Walk) -> int:
    """A bit for each of these variables that is a stage, or made for one."""
    variables: list[Tensor] = walk.once("variables", lambda: _variables(walk))
    known = 0
    made = (one.predict(walk.context) for one in walk.made.values())
    for tensor in (*walk.context.stages.values(), *made) if variables else ():
        known |= walk.once(("in hand", fingerprint(tensor)), partial(_same, tensor, variables))
    return known


def _same(tensor: Tensor, variables: list[Tensor]) -> int:
    return sum(is_turned(one, tensor) << number for number, one in enumerate(variables))
