"""Child side: which of the tensors that a script made is the image that its model reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import isqrt, prod

import torch
from torch import Tensor

from ...errors import Frame
from ...questions.recording import Reference
from ..tracing.tracing import Key, Storage
from .script_tracing import PRODUCTS, ScriptTracer
from .script_windows import Window

_NORMS = ("native_layer_norm",)
_DRAWN = ("uniform_.", "normal_.", "random_.")  # what is put into a tensor that was empty


def pictures_in(tracer: ScriptTracer) -> dict[Key, Window]:
    """The image that the pass reads, then every other tensor with the same numbers; empty if there is none.

    It is the picture that most of what was computed follows from, after all steps that keep it a picture of
    that size; or the first batch of it, where it is read batch by batch.
    """
    children = _children(tracer.records)
    found = [(key, window) for key, windows in tracer.windows.items() for window in windows]
    made = _mapped(tracer, children) | _no_images(tracer)
    made |= _filled_in(tracer, made)
    found = [one for one in found if one[0] not in made]
    reach = {key: len(_reached([key], children)) for key in {key for key, _ in found}}
    found = [(key, window) for key, window in found if reach[key]]
    if not found:
        return {}
    most = max(reach.values())
    first = [one for one in found if reach[one[0]] == most]
    cut = {one: _is_cut_so(one, tracer, _reached([one[0]], children)) for one in first}
    best = max(first, key=lambda one: (cut[one], -one[1].shape[0], one[0][0] == "record"))
    while after := _prepared(best, found, children, reach):
        best = after
    best = _first_batch(best, found, children, reach) or best
    numbers = best[1].of(tracer.tensors[best[0]])
    same = [(key, window) for key, window in found if _same(window, tracer.tensors[key], numbers)]
    return {best[0]: best[1], **dict(same)}


def _is_cut_so(found: tuple[Key, Window], tracer: ScriptTracer, after: Collection[Key]) -> bool:
    """Is what is multiplied first of all that follows a row for each patch, with all of its channels?"""
    images, channels, height, width = found[1].shape
    products = (one for _, one in sorted(after) if tracer.records[one].op.split(".")[0] in PRODUCTS)
    read = (one for first in islice(products, 1) for one in tracer.records[first].inputs)
    for *_, count, numbers in (one.shape for one in read if (one.kind, one.number) in {found[0], *after}):
        side = isqrt(numbers // channels)
        patches = (height // side) * (width // side) if side else 0
        if channels * side**2 == numbers and count in (patches, images * patches):
            return True
    return False


def _mapped(tracer: ScriptTracer, children: Mapping[Key, list[Key]]) -> set[Key]:
    """Parameters, products of matrices, and what follows: no image, though heads may look like one."""
    parameters: list[Key] = [
        ("leaf", number) for number, one in enumerate(tracer.leaves) if one.kind == "parameter"
    ]
    products: list[Key] = [
        ("record", number) for number, one in enumerate(tracer.records) if one.op.split(".")[0] in PRODUCTS
    ]
    first = [*parameters, *products]
    return {*first} | _reached(first, children)


def _no_images(tracer: ScriptTracer) -> set[Key]:
    """What is multiplied or normalised row by row, as tokens are, and filters with what they are made of."""
    filters, rows = set[Key](), set[Key]()
    for record in tracer.records:
        op = record.op.split(".")[0]
        if op == "convolution":
            filters |= {(one.kind, one.number) for one in record.inputs[1:2]}
        elif op in (*PRODUCTS, *_NORMS):
            rows |= {(one.kind, one.number) for one in record.inputs[:1] if _is_row_by_row(tracer, one)}
    return rows | filters | _reached(filters, _parents(tracer.records))


def _filled_in(tracer: ScriptTracer, made: Collection[Key]) -> set[Key]:
    """What some of these are written into, as a table of scores is filled head by head."""
    writes = (one for one in tracer.records if one.op.split(".")[0].endswith("_"))
    keys = ([(one.kind, one.number) for one in record.inputs] for record in writes)
    return {read[0] for read in keys if any(one in made for one in read[1:])}


def _is_row_by_row(tracer: ScriptTracer, read: Reference) -> bool:
    one = tracer.storage(*read[:2])
    return prod(read.shape) == one.count and one.shape[-1:] == read.shape[-1:]


def _parents(records: Sequence[Storage]) -> dict[Key, list[Key]]:
    """What each record was made of."""
    return {("record", n): [(one.kind, one.number) for one in each.inputs] for n, each in enumerate(records)}


def _children(records: Sequence[Storage]) -> dict[Key, list[Key]]:
    children: dict[Key, list[Key]] = {}
    for number, record in enumerate(records):
        for kind, parent, *_ in record.inputs:
            if (kind, parent) != ("record", number):
                children.setdefault((kind, parent), []).append(("record", number))
    return children


def _reached(first: Iterable[Key], steps: Mapping[Key, Iterable[Key]]) -> set[Key]:
    """All that leads on from these, step by step."""
    found: set[Key] = set()
    todo = [*first]
    while todo:
        new = set(steps.get(todo.pop(), ())) - found
        found |= new
        todo += new
    return found


def _prepared(
    best: tuple[Key, Window],
    found: list[tuple[Key, Window]],
    children: Mapping[Key, list[Key]],
    reach: Mapping[Key, int],
) -> tuple[Key, Window] | None:
    """The same picture after one more step of its preparation, if most that follows goes by way of that."""
    whole, taken = reach[best[0]], children.get(best[0], ())
    for key, window in found:
        is_next = key in taken and window.shape[:2] == best[1].shape[:2] and _is_square_alike(window, best[1])
        if not is_next or 2 * reach[key] < whole:
            continue
        if window.shape == best[1].shape or 2 * _beside(key, taken, children) <= whole:
            return key, window
    return None


def _beside(key: Key, taken: Sequence[Key], children: Mapping[Key, list[Key]]) -> int:
    """How much follows from the others of these: as much as from this one where each is a patch."""
    others = [one for one in taken if one != key]
    return len({*others} | _reached(others, children))


def _first_batch(
    best: tuple[Key, Window],
    found: list[tuple[Key, Window]],
    children: Mapping[Key, list[Key]],
    reach: Mapping[Key, int],
) -> tuple[Key, Window] | None:
    """The first batch of these images, if most that follows goes by way of some."""
    images, *axes = best[1].shape
    taken = [one for one in found if one[0] in children.get(best[0], ())]
    batches = [one for one in taken if one[1].shape[0] < images and [*one[1].shape[1:]] == axes]
    reached = {key: reach[key] for key, _ in batches}
    if 2 * sum(reached.values()) < reach[best[0]]:
        return None
    return min(
        (one for one in batches if 2 * reached[one[0]] >= max(reached.values())), key=lambda one: one[0]
    )


def _is_square_alike(window: Window, other: Window) -> bool:
    """Is it as large, or resized, and not cut into patches?"""
    return window.shape == other.shape or prod(window.shape) != prod(other.shape)


def _same(window: Window, tensor: Tensor, numbers: Tensor) -> bool:
    return window.shape == tuple(numbers.shape) and bool(torch.equal(window.of(tensor), numbers))


def root_at(tracer: ScriptTracer, pictures: Mapping[Key, Window]) -> dict[Key, Key]:
    """Makes the first picture record 0 of the trace, and what follows from any of them depend on the image.

    Where the script calls a whole model, that is only what the model computes from it: what is computed
    beside it is no part of the pass. The answer says which number each record and leaf has now.
    """
    first, window = next(iter(pictures.items()))
    root = tracer.storage(*first)
    root = replace(root, op="input", image=True, inputs=(), scalars=(), **vars(window))
    records: list[Key] = [
        ("record", number) for number in range(len(tracer.records)) if ("record", number) != first
    ]
    leaves: list[Key] = [
        ("leaf", number) for number in range(len(tracer.leaves)) if ("leaf", number) != first
    ]
    moved: dict[Key, Key] = {first: ("record", 0)}
    moved |= {key: ("record", number) for number, key in enumerate(records, 1)}
    moved |= {key: ("leaf", number) for number, key in enumerate(leaves)}
    shown = {moved[key] for key in pictures}
    called = max(tracer.calls, key=len, default=range(len(tracer.records)))
    inside = {moved["record", number] for number in called} | shown
    tracer.records, tracer.leaves = (
        [root, *(tracer.storage(*key) for key in records)],
        [tracer.storage(*key) for key in leaves],
    )
    top = tracer.lines[first[1]] if first[0] == "record" else Frame("", 0)
    tracer.lines = [top, *(tracer.lines[number] for _, number in records)]
    _renumber(tracer.records, moved, shown, inside)
    views = [renumbered(one, moved) for one in tracer.views]
    tracer.views.clear()
    tracer.views.extend(views)
    return moved


def renumbered(reference: Reference, moved: Mapping[Key, Key]) -> Reference:
    """The same window, where its record or leaf has moved."""
    kind, number = moved[reference.kind, reference.number]
    return reference._replace(kind=kind, number=number)


def _renumber(
    records: Sequence[Storage], moved: Mapping[Key, Key], shown: set[Key], inside: set[Key]
) -> None:
    depends = set(shown)
    for number, record in enumerate(records):
        record.inputs = tuple(renumbered(one, moved) for one in record.inputs)
        follows = any((one.kind, one.number) in depends for one in record.inputs)
        record.image = ("record", number) in shown or (follows and ("record", number) in inside)
        if record.image:
            depends.add(("record", number))
        elif len(record.shape) < 4 and (not record.inputs or record.op.startswith(_DRAWN)):
            record.op, record.inputs = "constant", ()  # weights that are drawn once, when the script starts
