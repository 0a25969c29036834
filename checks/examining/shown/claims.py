"""What a student shows as a stage, against what the model really computed.

A tensor that a mark, comment, name or returned key calls by a stage's label, that has the stage's shape, and
that the model never computed, was made up, or was computed a second time beside the model, and otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from torch import Tensor

from ....submissions.errors import Frame
from ....submissions.host.trace import Reference, Trace, VisibleLocal
from ....submissions.reading.code import Mark, headings, marks, module_file
from ....submissions.reading.python_text import decode
from ...locating.search.places import places_in
from ...locating.steps import Finding
from ..passes.examples import Examples
from ..stops import lines_below, same_in_some_layout

_RETURNED = {"final_seq": "final_sequence", "cls_rep": "class_representation"}
_LABEL = re.compile(r"(?<![A-Za-z0-9])S_?(\d\d?)(?!\d)", re.IGNORECASE)  # S02_patches, stage_s12, s9
_DIGIT = re.compile(r"S_?\d", re.IGNORECASE)  # in every label, however it is written

_Key = tuple[str, int]  # "record" or "leaf", and its number


@dataclass(frozen=True)
class Claim:
    """A tensor that is called by the label of a stage."""

    label: str
    name: str
    reference: Reference


@dataclass(frozen=True)
class FalseClaim:
    """A claimed tensor of the stage's shape that the model never computed."""

    claim: Claim
    finding: Finding
    frame: Frame | None  # the line that made it

    @property
    def message(self) -> str:
        """What is wrong with it, for the student."""
        return f"{self.claim.name} is shown as {self.claim.label}, but the model never computed this tensor."


def false_claims(examples: Examples) -> list[FalseClaim]:
    """Every claim that is contradicted, one a stage; nothing where the logits were not located.

    What follows from a tensor that is blamed already is not blamed again.
    """
    last = [step.found.record for step in examples.walk.steps if step.key == "logits" and step.found]
    if not last or not _claims_anything(examples):
        return []
    trace = examples.watched()
    if trace.signature != examples.walk.trace.signature:  # other operations ran: nothing is to be compared
        return []
    computed = _Computed(examples, trace, last[0])
    found: dict[str, FalseClaim] = {}
    blamed: set[_Key] = set()
    for keys, claims in (
        *_marked(examples, trace),
        *_named(examples, trace),
        *_commented(examples, trace),
    ):
        if not keys or computed.holds_any(claims, keys):
            continue
        contradicted = ((claim, computed.contradiction(claim, keys)) for claim in claims)
        claim, id = next(((claim, id) for claim, id in contradicted if id), (None, None))
        if claim is None or id is None or keys[0] in found:
            continue
        if not _ancestors(trace, _key(claim.reference)) & blamed:
            frame = next(iter(trace.value(claim.reference).frames), None)
            found[keys[0]] = FalseClaim(claim, Finding(id, keys[0], None), frame)
            blamed.add(_key(claim.reference))
    return list(found.values())


def _claims_anything(examples: Examples) -> bool:
    """Does what may be a label stand anywhere, or the name of a stage? If not, no second pass is needed."""
    returned = [name for name, _ in examples.walk.trace.outputs]
    code = (decode(text) for file, text in examples.source.files.items() if module_file(file))
    return any(name in _RETURNED for name in returned) or any(map(_DIGIT.search, (*returned, *code)))


_Claims = Iterator[tuple[list[str], list[Claim]]]  # keys of the stages that are meant, and what is shown


def _meanings(examples: Examples, label: str) -> list[str]:
    family = examples.family
    return [key for key in family.keys_of(examples.assignment.labels, label) if key != family.input_key]


def _marked(examples: Examples, trace: Trace) -> _Claims:
    """For each label, what is visible at its marks: first what the lines before made, the latest first."""
    found = marks(examples.source.files)
    for label in dict.fromkeys(sorted(mark.label for mark in found)):
        rows = [
            (_is_before(trace, local, found[local.mark]), Claim(label, local.name, local.reference))
            for local in trace.sights
            if local.mark >= 0 and found[local.mark].label == label
        ]
        rows.sort(key=lambda row: (row[0], row[1].reference.kind, row[1].reference.number), reverse=True)
        yield _meanings(examples, label), [claim for _, claim in rows]


def _is_before(trace: Trace, local: VisibleLocal, mark: Mark) -> bool:
    frames = trace.value(local.reference).frames
    return bool(frames) and frames[0].file == mark.file and frames[0].line <= mark.line


def _named(examples: Examples, trace: Trace) -> _Claims:
    """Variables and returned keys that have a label in their name, or the name that the assignment gives."""
    shown = [(one.name, one.reference) for one in trace.sights] + list(trace.outputs)
    for name, reference in shown:
        match = _LABEL.search(name)
        if match:
            label = f"S{int(match[1]):02}"
            yield _meanings(examples, label), [Claim(label, name, reference)]
    for name, reference in trace.outputs:
        if _RETURNED.get(name) in examples.family.by_key:
            row = examples.family.stage(_RETURNED[name])
            yield [row.key], [Claim(row.label, name, reference)]


def _commented(examples: Examples, trace: Trace) -> _Claims:
    """For each plain comment with a label, what the statement below it makes, then what that reads."""
    files = examples.source.files
    found = headings(files)
    for mark, lines in zip(found, lines_below(files, found)):
        made = [
            one
            for one in reversed(trace.records)
            if any(frame.file == mark.file and frame.line in lines for frame in one.frames)
        ]
        references = [*(one.reference for one in made), *(read for one in made for read in one.inputs)]
        name = f"The tensor below the comment in line {mark.line}"
        yield (
            _meanings(examples, mark.label),
            [Claim(mark.label, name, one) for one in dict.fromkeys(references)],
        )


class _Computed:
    """What the model computed on the way to its logits."""

    def __init__(self, examples: Examples, trace: Trace, logits: int) -> None:
        self._trace = trace
        self._seen = examples.examples[0]
        self._inside = _ancestors(trace, ("record", logits))
        numbers = sorted(number for kind, number in self._inside if kind == "record")
        self._places = places_in(trace, numbers)

    def holds_any(self, claims: Sequence[Claim], keys: Sequence[str]) -> bool:
        """Is the stage among what is shown?"""
        stages = [one.student for key in keys for one in self._seen.all(key)]
        shown = [self._trace.tensor(one.reference) for one in claims]
        return any(same_in_some_layout(one, tensor) for one in shown for tensor in stages)

    def contradiction(self, claim: Claim, keys: Sequence[str]) -> str | None:
        """The mistake that a claim is, if it has the shape of the stage and the model never computed it."""
        tensor = self._trace.tensor(claim.reference)
        if not any(self._has_shape(tensor, key) for key in keys) or self._computed(claim, tensor):
            return None
        follows = _follows(self._trace, claim.reference)
        return "stage-recomputed-beside-model" if follows else "stage-made-up"

    def _has_shape(self, tensor: Tensor, key: str) -> bool:
        row = self._seen.walk.family.stage(key)
        return tuple(tensor.shape) == row.shape(self._seen.draw.sizes)

    def _computed(self, claim: Claim, tensor: Tensor) -> bool:
        stages = (one.student for one in self._seen.seen)
        return (
            _key(claim.reference) in self._inside
            or any(same_in_some_layout(tensor, one) for one in stages)
            or self._places.find(tensor) is not None
        )


def _key(reference: Reference) -> _Key:
    return reference.kind, reference.number


def _ancestors(trace: Trace, key: _Key) -> set[_Key]:
    """A record or leaf, and everything that it was computed from."""
    found, todo = {key}, [key]
    while todo:
        kind, number = todo.pop()
        inputs = trace.records[number].inputs if kind == "record" else ()
        new = {_key(one) for one in inputs} - found
        found |= new
        todo += new
    return found


def _follows(trace: Trace, reference: Reference) -> bool:
    """Was it computed from the image?"""
    return any(trace.records[number].image for number in trace.ancestors(reference))
