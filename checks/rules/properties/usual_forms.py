"""Forms of code that change no number: loops, copies, repeated work, attention that hides its parts.

They are noted, and cost something only where an assignment forbids them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ....reference.model_sizes import ModelSizes
from ....submissions.reading.code import discarded
from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed
from . import holds
from .passes import ends_alike, example_of, leaves_of, line_of

_NORM = "native_layer_norm"


@holds(order=90, begun=True)
def operations(examination: Examination) -> None:
    """There is no Python loop over images, tokens or heads.

    Else: There is a Python loop over images, tokens or heads
    """
    example = example_of(examination)
    for axis, id in (
        ("batch", "loop-over-batch"),
        ("tokens", "loop-over-tokens"),
        ("heads", "loop-over-heads"),
    ):
        if _is_settled(examination, axis):
            continue
        sizes = _changed(example.draw.sizes, axis)
        draw = examination.buildable(replace(example.draw, sizes=sizes))
        more = getattr(draw.sizes, axis) - getattr(example.draw.sizes, axis)
        if not more or not examination.has_room_for(draw.sizes):
            continue
        trace = examination.trace(draw)
        grown = (len(trace.records) - len(example.trace.records)) / more
        if ends_alike(trace, example.trace) and grown > 0:
            text = (
                f"{abs(more)} more {axis} take {abs(grown * more):.0f} more"
                " operations: there is a Python loop"
            )
            examination.variant(id, text)


def _is_settled(examination: Examination, axis: str) -> bool:
    """Do the examples differ along this axis, and take the same number of operations?"""
    counts = {len(one.trace.records) for one in examination.examples}
    return len(counts) == 1 and len({getattr(one.draw.sizes, axis) for one in examination.examples}) > 1


def _changed(sizes: ModelSizes, axis: str) -> ModelSizes:
    if axis == "batch":
        return replace(sizes, batch=sizes.batch + 1)
    if axis == "tokens":
        return type(sizes)(**{**vars(sizes), "height": sizes.height + sizes.patch})
    others = (one for one in (2, 4, 1) if one != sizes.heads and sizes.embed_dim % one == 0)
    return replace(sizes, heads=next(others, sizes.heads))


@holds(order=90, begun=True)
def usual_forms(examination: Examination) -> None:
    """The model returns only the logits, nothing is computed twice or copied, attention is written out.

    Else: The model does more than it has to, or hides its attention
    """
    example = example_of(examination)
    if not examination.unfinished and [path for path, _ in example.trace.outputs] != [""]:
        paths = ", ".join(path or "a tensor" for path, _ in example.trace.outputs[:5])
        examination.variant("returns-tuple-or-dict", f"the model returns {paths}, not only the logits")
    if examination.session.channels_last:
        examination.variant("images-channels-last", "the model reads images as B H W C, not as B C H W")
    for habit in examination.habits():
        if habit.kind == "fused":
            text = f"{habit.what} in {line_of(habit)} does not show S09 to S14"
            examination.variant("hidden-fused-attention", text)
    _norms(examination, example)
    _copies(examination, example)


def _norms(examination: Examination, example: Example) -> None:
    norms = [one for one in example.trace.records if one.op.startswith(_NORM)]
    # each makes three tensors, of which the result has the shape of what it reads
    times = Counter(one.inputs for one in norms if one.shape == one.inputs[0].shape)
    if times and max(times.values()) > 2:
        text = f"the same norm of the same tensor is computed {max(times.values())} times"
        examination.variant("norm-computed-thrice", text)


def _copies(examination: Examination, example: Example) -> None:
    token = {leaf.number for leaf in leaves_of(example, "class_token")}
    for record in example.trace.records:
        if (
            record.op.startswith("repeat.")
            and {one.number for one in record.inputs if one.kind == "leaf"} & token
        ):
            text = "the class token is copied for each image, where a view would do"
            examination.variant("repeat-instead-of-expand", text)


@holds(order=90)
def results_are_used(examination: Examination) -> None:
    """No call's result is thrown away.

    Else: The result of a call is thrown away
    """
    example = example_of(examination)
    walk = example.walk
    wrong = walk.unexplained is not None or any(not step.explained for step in walk.steps)
    if not wrong and not any(examination.counts(one.id) for one in examination.findings()):
        return
    for place, call in discarded(examination.source.files):
        text = f"the new tensor that {call} returns in {place.file}, line {place.line}, is thrown away"
        raise CheckFailed(text, ("result-discarded",), None, place)
