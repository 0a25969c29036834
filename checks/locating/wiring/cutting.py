"""How what maps give is cut into heads, rightly or not, and which role each piece has."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..context import Context, Predict

# How a width of several packed tensors is cut: r roles (query, key, value), h heads, d features.
PACKINGS = ("rhd", "hrd", "hdr", "rdh", "drh", "dhr")
# Axes that a view gives what one map made, where tokens (t) do not stay in front of what is cut.
SCRAMBLED = ("htd", "rhtd", "rthd", "hrtd", "htrd")

Count = Callable[[Context], int]  # of heads, at the sizes of a trace


def unpack(tensor: Tensor, packing: str, roles: int, heads: int) -> Tensor:
    """From B T (packed) to role B h T d."""
    sizes = {"r": roles, "h": heads, "d": tensor.shape[-1] // (roles * heads)}
    cut = tensor.reshape(*tensor.shape[:2], *(sizes[letter] for letter in packing))
    return cut.permute(2 + packing.index("r"), 0, 2 + packing.index("h"), 1, 2 + packing.index("d"))


def _scrambled(tensor: Tensor, roles: int, heads: int, order: str) -> Tensor:
    """Cut by a view of tokens and features together, in this ``order`` of axes; without roles, one by one.

    Read in the right ``order``, with tokens first, it is no mistake: see ``unpack``.
    """
    B, T = tensor.shape[:2]
    if "r" not in order:
        each = tensor.chunk(roles, -1)
        return torch.cat([_scrambled(one, 1, heads, f"r{order}") for one in each])
    sizes = {"r": roles, "h": heads, "t": T, "d": tensor.shape[-1] // (roles * heads)}
    cut = tensor.reshape(B, *(sizes[letter] for letter in order))
    role, *rest = (1 + order.index(letter) for letter in "rhtd")
    return cut.permute(role, 0, *rest)


def role(tensor: Predict, packing: str, roles: int, count: Count, number: int) -> Predict:
    """One of the packed tensors."""
    return lambda context: unpack(context.of(tensor), packing, roles, count(context))[number]


def scrambled_role(tensor: Predict, roles: int, count: Count, number: int, order: str) -> Predict:
    return lambda context: _scrambled(context.of(tensor), roles, count(context), order)[number]


CutOfOne = Callable[[Predict, Count], Predict]  # what one map gives, cut into heads
SINGLE_CUTS: tuple[
    tuple[float, CutOfOne, str | None], ...
] = (  # each with its price and the id of a wrong one
    (0.0, lambda one, count: role(one, "rhd", 1, count, 0), None),
    (0.05, lambda one, count: role(one, "rdh", 1, count, 0), None),
    (1.0, lambda one, count: scrambled_role(one, 1, count, 0, "htd"), "heads-split-without-transpose"),
)
