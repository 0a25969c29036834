"""One try of a component: built once, and given an input of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import torch
from torch import nn

from .....reference.components import Component
from .....reference.sizes import Sizes
from ..build_attempt import Level
from ..calls.block_lists import depth_of
from ..calls.observing import ModelParts, heads_of, mlp_dim, tensors
from ..effort import Computed

Way = Callable[[Sizes], nn.Module]
_OF_A_PARAMETER = 2  # operations: it is made, and drawn or scaled


@dataclass
class Tried:
    """How far a try went, of how many parameters and numbers, and the error that ended it."""

    level: Level = Level.NOTHING
    parameters: int = 0
    computed: int = 0
    error: BaseException | None = None


def run_alone(way: Way, row: Component, sizes: Sizes, claimed: Collection[str] = ()) -> Tried:
    """Build it once, and pass one input.

    One that shows another MLP, or another number of heads or blocks, than the way has ``claimed`` does not
    fit, whatever comes out.
    """
    tried, made, counted = Tried(), Computed(), Computed()
    try:
        with made:
            module = way(sizes).eval()
        tried.level = Level.BUILT
        with torch.no_grad(), counted:
            shapes = [tuple(one.shape) for one in tensors(module(torch.randn(row.input_shape(sizes))))]
    except (Exception, SystemExit) as error:
        tried.error = error
    else:
        if _shows(module, sizes, {*claimed} & {*row.sizes}):
            tried.level = Level.FITS if row.output_shape(sizes) in shapes else Level.RAN
    tried.parameters = made.numbers // _OF_A_PARAMETER
    tried.computed = counted.numbers
    return tried


def _shows(module: nn.Module, sizes: Sizes, claimed: Collection[str]) -> bool:
    """Is it of the ``claimed`` sizes that no shape tells, as far as can be seen?"""
    parts, width = ModelParts.of(module), sizes.embed_dim
    seen = {
        "mlp_dim": mlp_dim(parts, width),
        "heads": heads_of(parts),
        "depth": depth_of(parts.modules, width),
    }
    return all(seen[name] in (0, getattr(sizes, name)) for name in seen.keys() & claimed)
