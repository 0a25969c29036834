"""Child side: a component that lines of a script compute from what they draw, at its sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from torch import Tensor

from .....reference.components import Component
from .....reference.sizes import Sizes
from ...loading.drawn_scripts import DrawnScript, ScriptModule
from ..attended import counted_in
from ..calls.block_lists import depth_of
from ..calls.observing import ModelParts, mlp_dim
from ..trial_sizes import SMALL
from .component_trial import Way


def drawn_ways(script: DrawnScript, row: Component) -> Iterator[tuple[Way, Sizes]]:
    """Yield the way to make it, and the sizes, where what it draws has the axes of the component's input.

    One image, or one head, may have no axis of its own.
    """
    first = next(iter(script.drawn.values()))
    axes = row.input.split()
    shape = (*(1,) * (len(axes) - first.dim()), *first.shape)
    if len(shape) != len(axes) or shape[-2] < 2:
        return
    if row.inputs > 1:
        yield _way(script), _of_tokens(shape[0], shape[-2], shape[1] * shape[-1], heads=shape[1])
    elif axes in (["B", "T", "D"], ["B", "N", "D"]):
        sizes = _of_tokens(shape[0], shape[1] + (axes[1] == "N"), shape[2], heads=1)
        yield _way(script), _observed(script.module(), first.reshape(shape), sizes)


def _way(script: DrawnScript) -> Way:
    return lambda _: script.module()


def _of_tokens(batch: int, tokens: int, width: int, heads: int) -> Sizes:
    """In a square of patches, or else in a row of them."""
    side, patches = SMALL.patch, tokens - 1
    rows = round(patches**0.5) if round(patches**0.5) ** 2 == patches else 1
    height, columns = rows * side, patches // rows * side
    return replace(SMALL, batch=batch, embed_dim=width, heads=heads, height=height, width=columns)


def _observed(module: ScriptModule, given: Tensor, sizes: Sizes) -> Sizes:
    """With the heads and blocks that attend, and what its layers show of others."""
    parts, width = ModelParts.of(module), sizes.embed_dim
    shown = {"mlp_dim": mlp_dim(parts, width), "depth": depth_of(parts.modules, width)}
    seen = {name: one for name, one in shown.items() if one}
    counted = next(counted_in(module, given, sizes), None)
    if counted is not None:
        heads = counted.heads or max(1, counted.of_all // seen.get("depth", 1))
        seen["heads"], seen["depth"] = heads, max(1, counted.of_all // heads)
    fits = sizes.embed_dim % seen.get("heads", 1) == 0
    return replace(sizes, **seen) if fits else sizes
