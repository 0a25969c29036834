"""G18 to G22: the end of the blocks, the final norm, logits and probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from vitcheck.api import (
    LOGITS,
    NORMS,
    BatchNorm,
    Form,
    Input,
    LinearMap,
    Norm,
    Option,
    Predict,
    Use,
    Walk,
    applied,
    combine,
    equal,
    right_of,
    settle_block_outputs,
    stage_of,
)

from .embedding import TABLE


@dataclass(frozen=True)
class Head:
    """One way from the last block to the logits."""

    sequence: Predict  # G20
    norm: Norm | BatchNorm | None
    map: LinearMap
    last_only: bool  # is it applied to the last position alone?


def read_out(walk: Walk, read: Input) -> Iterator[Option]:
    """From what is ``read`` to the logits and their probabilities, rightly or with known mistakes."""
    yield from (Option(float(wrong), partial(_settle, read=read, wrong=wrong)) for wrong in (False, True))


def _settle(walk: Walk, read: Input, wrong: bool) -> bool:
    x, ids = read
    head = next(_heads(walk, x, wrong), None)
    if head is None:
        return False
    settle_block_outputs(walk, x, ids)
    _settle_sequence(walk, head)
    _settle_logits(walk, head)
    return True


def _heads(walk: Walk, x: Predict, wrong: bool) -> Iterator[Head]:
    after = walk.position - 1
    for norm, _, _ in walk.parameters.norms(x(walk.context), after, NORMS[1:] if wrong else NORMS[:1]):
        yield from _maps(walk, applied(norm, x), norm, after)
    if wrong:
        yield from _maps(walk, x, None, after)


def _maps(walk: Walk, x: Predict, norm: Norm | BatchNorm | None, after: int) -> Iterator[Head]:
    sequence = x(walk.context)
    for last_only, rows in ((False, sequence), (True, sequence[:, -1:]), (True, sequence[:, -1])):
        for map_, _, _ in walk.parameters.linears(rows, after, walk.sizes.vocabulary):
            yield Head(x, norm, map_, last_only)


def _settle_sequence(walk: Walk, head: Head) -> None:
    last, norm = stage_of("last_block_output", 0), head.norm
    found = walk.find(head.sequence(walk.context))
    right = head.sequence if norm is None else right_of(norm, last)
    ids = ("final-norm-missing",) if norm is None else norm.ids
    walk.settle("final_sequence", 0, head.sequence, found, right=right, ids=ids)
    if norm is not None:
        walk.roles["final_norm"] = norm


def _settle_logits(walk: Walk, head: Head) -> None:
    plain = applied(head.map, head.sequence)
    returned = [(path, walk.trace.tensor(where)) for path, where in walk.trace.outputs]
    form = next((one for one in LOGITS[1:] if _is_returned(walk, one, plain, returned)), LOGITS[0])
    ids = [form.id] if form.id else []
    ids += ["logits-last-only"] if head.last_only else []
    ids += [] if _is_tied(walk, head.map) else ["weights-not-tied"]
    logits: Predict = combine(form.function, plain)
    walk.settle("logits", 0, logits, walk.find(logits(walk.context)), right=plain, ids=ids)
    walk.roles["head"] = head.map
    probabilities: Predict = combine(_softmax, stage_of("logits", 0))
    over_positions: Predict = combine(_softmax_over_positions, stage_of("logits", 0))
    wrong = walk.find(over_positions(walk.context))
    if wrong:
        ids = ["softmax-over-positions"]
        walk.settle("token_probabilities", 0, over_positions, wrong, right=probabilities, ids=ids)
    else:
        walk.settle("token_probabilities", 0, probabilities, walk.find(probabilities(walk.context)))


def _is_returned(walk: Walk, form: Form, plain: Predict, returned: list[tuple[str, Tensor]]) -> bool:
    """Is what the form gives returned as logits, at all positions or at the last?"""
    value = form.function(plain(walk.context))
    given = (tensor for path, tensor in returned if "prob" not in path.lower())
    return any(equal(one, part) for one in given for part in (value, value[:, -1:], value[:, -1]))


def _is_tied(walk: Walk, head: LinearMap) -> bool:
    """Do the head and the embedding read one parameter?"""
    table = walk.roles.get(TABLE)
    return isinstance(table, Use) and walk.parameters.leaf(table) == walk.parameters.leaf(head.weight)


def _softmax(logits: Tensor) -> Tensor:
    return torch.softmax(logits, dim=-1)


def _softmax_over_positions(logits: Tensor) -> Tensor:
    return torch.softmax(logits, dim=1)


def answers(logits: Tensor) -> Iterator[Tensor]:
    """What a model may return: logits or what is made of them, at all positions or at the last."""
    for one in (logits, logits.log_softmax(-1), logits.softmax(-1), logits.softmax(1)):
        yield from (one, one[:, -1])
