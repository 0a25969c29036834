"""Queries and keys that are turned by where their token stands, before they meet: Su et al. 2021, RoFormer.

How far each is turned is read off the trace: any table of angles will do, if one turn for each token is
common to all images, heads, queries and keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import prod

import torch
from torch import Tensor

from ..comparing import TABLE, equal
from ..context import Context, Predict
from ..walk import Walk


def turned(walk: Walk, query: Predict, key: Predict, after: int) -> Iterator[tuple[Predict, Predict]]:
    """Tensors of the trace that are these two (B heads T d), each token turned by an angle of its own."""
    plain = query(walk.context), key(walk.context)
    queries, keys = ([*_turned(walk, one, after)] for one in (query, key))
    for one, other in ((one, other) for one in queries for other in keys):
        pair = one(walk.context), other(walk.context)
        is_alike = equal(_with_itself(*pair), _with_itself(*plain), TABLE)
        if is_alike and not equal(pair[0], plain[0], TABLE):
            yield one, other


def _turned(walk: Walk, like: Predict, after: int) -> Iterator[Predict]:
    """Where each token's vectors have the lengths, and the angles between them, of those of ``like``."""
    x = like(walk.context)
    alike = (one for one in walk.trace.records[after + 1 :] if one.image and prod(one.shape) == x.numel())
    for record in alike:
        tensor = _read_as(walk.trace.tensor(record.reference), x.shape)
        if tensor is None or not equal(tensor.norm(dim=-1), x.norm(dim=-1), TABLE):
            continue
        if equal(_products(tensor), _products(x), TABLE):
            yield partial(_of_record, record.number, like)


def _of_record(number: int, like: Predict, context: Context) -> Tensor:
    x, record = like(context), context.trace.records[number]
    tensor = _read_as(context.trace.tensor(record.reference), x.shape)
    return x if tensor is None else tensor


def _with_itself(query: Tensor, key: Tensor) -> Tensor:
    """What each token's query has in common with its own key."""
    return (query * key).sum(-1)


def _read_as(tensor: Tensor, shape: torch.Size) -> Tensor | None:
    """As B heads T d, where its first axes are those, or tokens before heads, or one for both."""
    B, heads, T, _ = shape
    if tensor.shape[:3] == (B, T, heads):
        return tensor.reshape(B, T, heads, -1).transpose(1, 2)
    is_own = tensor.shape[:3] == (B, heads, T) or tensor.shape[:2] == (B * heads, T)
    return tensor.reshape(shape) if is_own else None


def _products(x: Tensor) -> Tensor:
    """Of the vectors that different heads and images have of one token."""
    vectors = x.movedim(2, 0).flatten(1, 2)
    return vectors @ vectors.mT
