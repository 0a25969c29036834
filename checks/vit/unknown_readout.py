"""S21 to S26 as the pass has them, where no known equation gives what the class scores are computed from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch

from ...reference import equations as eq
from ..locating.best_first import Option
from ..locating.context import Predict
from ..locating.forms import READOUTS, VARIANT, Form
from ..locating.search.mixing import mixture
from ..locating.search.nearness import same
from ..locating.search.parameter_search import LinearMap
from ..locating.search.relations import measured
from ..locating.search.returned_scores import outputs_of, stand_ins
from ..locating.walk import Walk, applied, combine, stage_of
from ..locating.wiring.graph_tensors import GraphTensor, likely_map, likely_norm, sequences, settle_unknown
from .block_outputs import settle_block_outputs
from .readout import settle_readout
from .unknown_scores import returned_as

_NO_HEAD = (
    "No known equation gives it, and no linear layer from the class representation to the logits was found."
)
_NEXT = 0.001  # the price of each that comes before


def unknown_readout(walk: Walk, x: Predict) -> Iterator[Option]:
    """From any sequence on that leads to the class scores, else from a vector, else from what is returned."""
    T, D = walk.context.stage("positioned_tokens").shape[1:]
    every = enumerate(sequences(walk, D, T, len(walk.trace.records)))
    yield from (Option(_NEXT * number, partial(_from_sequence, x=x, other=one)) for number, (_, one) in every)
    yield Option(1.0, partial(_from_row, x=x))
    yield Option(1.1, partial(_from_returned, x=x))


def _from_sequence(walk: Walk, x: Predict, other: Predict) -> bool:
    if not settle_readout(walk, (other, ()), wrong=False):
        return False
    if walk.normed or "final_norm" in walk.roles:
        _blame_sequence(walk, x)
    else:
        _blame_norm(walk, x)
    return True


def _blame_norm(walk: Walk, x: Predict) -> None:
    """No norm of S22 is read out, but what stands in its place."""
    tensor = x(walk.context)
    own = {step.key: at for at, step in enumerate(walk.steps) if step.block == 0}
    before, after = (walk.steps[own[key]] for key in ("last_block_output", "final_sequence"))
    found = walk.places.find(tensor)
    norm = likely_norm(walk, tensor, after.predict(walk.context), 0 if found is None else found.record)
    right = x if norm is None else applied(norm, x)
    told = measured(after.predict(walk.context), right(walk.context), "B T D")
    walk.steps[own["last_block_output"]] = replace(before, predict=x, found=found)
    walk.steps[own["final_sequence"]] = replace(
        after, right=right, findings=(), explained=False, message=told
    )
    walk.context.settle("last_block_output", 0, tensor)


def _blame_sequence(walk: Walk, x: Predict) -> None:
    """S22 is not what the last block gave; where all blocks' outputs are odd, that is the last one's S20."""
    told = measured(walk.context.stage("last_block_output"), x(walk.context), "B T D")
    again = any(step.key == "block_output" and not step.explained for step in walk.steps)
    blamed = ("block_output", walk.blocks) if again else ("last_block_output", 0)
    for position, step in enumerate(walk.steps):
        if (step.key, step.block) == blamed:
            walk.steps[position] = replace(step, explained=False, message=told)
        elif step.key == "last_block_output":
            walk.steps[position] = replace(step, right=step.predict)


def _from_row(walk: Walk, x: Predict) -> bool:
    """A linear map of vectors, which should be one an image, gives the class scores."""
    for taken in _rows(walk):
        row = taken.tensor
        for head, result, _ in walk.parameters.linears(row(walk.context), taken.record - 1):
            if result.shape[-1] == walk.sizes.classes:
                _settle_sequence(walk, x)
                _settle_row(walk, row)
                _settle_scores(walk, applied(head, stage_of("class_representation", 0)), head)
                return True
    return False


def _rows(walk: Walk) -> Iterator[GraphTensor]:
    """Every later tensor of as many vectors as there may be, as it is read and as it is made."""
    D = walk.context.stage("positioned_tokens").shape[2]
    for record in walk.trace.records[walk.position + 1 :]:
        for position, reference in enumerate((*record.inputs, record.reference)):
            made = position == len(record.inputs)
            image = walk.trace.value(reference).image
            if image and len(reference.shape) == 2 and reference.shape[1] == D:
                yield GraphTensor(record.number, None if made else position)


def _from_returned(walk: Walk, x: Predict) -> bool:
    """What is returned in the shape of class scores is no known map of any vector."""
    returned = stand_ins(outputs_of(walk.trace), walk.sizes.output_shape)
    if not returned:
        return False
    _settle_sequence(walk, x)
    row: Predict = combine(eq.class_representation, stage_of("final_sequence", 0))
    walk.settle("class_representation", 0, row, walk.find(row(walk.context)))
    head = likely_map(walk, walk.sizes.embed_dim, walk.sizes.classes, walk.position)
    logits = returned_as(returned[0].path)
    told = _NO_HEAD if head is None else None
    right = logits if head is None else applied(head, stage_of("class_representation", 0))
    settle_unknown(walk, "logits", 0, logits, right, told)
    _settle_probabilities(walk)
    return True


def _settle_sequence(walk: Walk, x: Predict) -> None:
    """S21 to S23: the right norm of the last block's output, if there is one."""
    settle_block_outputs(walk, x, ())
    norms = walk.parameters.norms(x(walk.context), walk.position - 1)
    norm = next((one for one, _, _ in norms), None)
    sequence = x if norm is None else applied(norm, x)
    walk.settle("final_sequence", 0, sequence, walk.find(sequence(walk.context)))
    if norm is not None:
        walk.roles["final_norm"] = norm


def _settle_row(walk: Walk, row: Predict) -> None:
    right, *variants = (
        _read_out(walk, form, row) for form in READOUTS if form.id is None or form.cost == VARIANT
    )
    settle_unknown(walk, "class_representation", 0, row, right, _from_tokens(walk, row))
    walk.steps[-1] = replace(walk.steps[-1], variants=tuple(variants))


def _read_out(walk: Walk, form: Form, row: Predict) -> Predict:
    """What is read of S23, through the norm that follows where there is one."""
    read: Predict = combine(form.function, stage_of("final_sequence", 0))
    if "final_norm" in walk.roles or walk.normed:
        return read
    norm = likely_norm(walk, read(walk.context), row(walk.context), walk.position)
    return read if norm is None else applied(norm, read)


def _from_tokens(walk: Walk, row: Predict) -> str | None:
    """How all tokens of S23 went into one, if simply."""
    x, sequence = row(walk.context), walk.context.stage("final_sequence")
    if len(x) != len(sequence):
        return f"It has {len(x)} vectors for {len(sequence)} images, but there should be one for each."
    for name, pooled in (("largest", sequence.amax(1)), ("smallest", sequence.amin(1))):
        if same(x, pooled):
            return f"It is the {name} value of all tokens of S23, feature by feature."
    told = mixture(
        x, torch.zeros_like(x), {f"token {at}": sequence[:, at] for at in range(sequence.shape[1])}
    )
    return f"It {told} of S23." if "token" in told else None


def _settle_scores(walk: Walk, logits: Predict, head: LinearMap) -> None:
    walk.roles["head"] = head
    walk.settle("logits", 0, logits, walk.find(logits(walk.context)))
    _settle_probabilities(walk)


def _settle_probabilities(walk: Walk) -> None:
    right: Predict = combine(eq.class_probabilities, stage_of("logits", 0))
    walk.settle("class_probabilities", 0, right, walk.find(right(walk.context)))
