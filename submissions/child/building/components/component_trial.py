"""One try of a component: built once, and given an input of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from .....reference.components import Component
from .....reference.sizes import Sizes
from ..build_attempt import Level
from ..calls.block_lists import depth_of
from ..calls.observing import ModelParts, heads_of, mlp_dim, observe, tensors
from ..effort import Computed
from ..trial_sizes import fit

Way = Callable[[Sizes], nn.Module]
_WIDTHS_TRIED = 4
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


def own_sizes(way: Way, base: Sizes) -> Iterator[Sizes]:
    """Yield sizes that the code may have fixed by itself, as the shapes of its parameters tell."""
    try:
        module = way(base)
    except (Exception, SystemExit):  # as every other way has shown already
        return
    seen = {
        name: one
        for name, one in observe(ModelParts.of(module)).items()
        if name in ("channels", "patch", "heads")
    }
    shapes = [tuple(one.shape) for one in module.parameters()]
    widths = Counter(size for shape in shapes for size in shape if size > 1)
    for width, _ in widths.most_common(_WIDTHS_TRIED):
        heads = {} if width % seen.get("heads", 1) else seen
        yield fit(base, {**heads, "embed_dim": width})
        for rows in {
            shape[-2] for shape in shapes if len(shape) > 1 and shape[-1] == width and shape[-2] > 1
        }:
            yield fit(base, {"embed_dim": width, "height": base.patch, "width": (rows - 1) * base.patch})
