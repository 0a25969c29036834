"""S02 to S04: patches, flattened patches, and their embeddings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product, starmap
from math import prod
from operator import attrgetter

import torch

from ...reference import equations as eq
from ...submissions.host.trace import Use
from ..locating.comparing import equal
from ..locating.context import Context, Predict
from ..locating.forms import VARIANT, Form
from ..locating.search.parameter_search import LinearMap
from ..locating.search.places import Found
from ..locating.walk import Walk, applied, combine, stage_of
from ..locating.wiring.graph_tensors import GraphTensor
from .token_forms import CUTS, CUTS_MIXED, FLATTENED

_IMAGE: Predict = attrgetter("image")


@dataclass(frozen=True)
class _Patches:
    """One way from the image to S03."""

    cut: Form
    flattened: Form
    image: Predict = _IMAGE

    @property
    def price(self) -> float:
        return self.cut.price + self.flattened.price

    @property
    def is_plausible(self) -> bool:
        """Two mistakes in a row are not."""
        return self.price <= 1 + VARIANT

    def windows(self, context: Context) -> torch.Tensor:
        """B N C P P."""
        P = context.sizes.patch
        cut = self.cut.function(context.of(self.image), P)
        return cut.reshape(*cut.shape[:2], -1, P, P)

    def rows(self, context: Context) -> torch.Tensor:
        """B N C·P·P."""
        return self.flattened.function(self.windows(context))


_EVERY = [one for one in starmap(_Patches, product(CUTS, FLATTENED)) if one.is_plausible]
_WAYS = sorted(_EVERY, key=lambda one: one.price)
_MIXED = [_Patches(cut, FLATTENED[0]) for cut in CUTS_MIXED]
_RIGHT = _WAYS[0]
_USUAL = [one for one in _WAYS if one.cut is CUTS[0] and one.flattened.id in (None, "flatten-channel-last")]


def patch_embeddings(walk: Walk) -> bool:
    """Settles S02 to S04; False where no known map of any patches is in the trace."""
    if any(_mapped(walk, way) for way in _WAYS):
        return True
    if any(_mapped(walk, replace(way, image=one)) for one in _scaled_images(walk) for way in _USUAL):
        return True
    if _with_positions(walk) or _per_position(walk) or _normed_patches(walk):
        return True
    return any(_mapped(walk, way) for way in _MIXED)


def patches_alone(walk: Walk) -> bool:
    """Settles S02 and S03 of what gives patches alone; False where it cuts them in no known way."""
    for way in (*_WAYS, *_MIXED):
        found = walk.find(way.rows(walk.context))
        if found and any(walk.ends_with(one(walk.context)) for one in (way.rows, way.windows)):
            _settle_patches(walk, way, found)
            return True
    return False


def _mapped(walk: Walk, way: _Patches) -> bool:
    x = way.rows(walk.context)
    for map_, _, found in walk.parameters.linears(x, after=-1, outputs=walk.sizes.embed_dim):
        if _has_position_for_bias(walk, map_):
            plain = replace(map_, bias=None)
            if (there := walk.find(plain(walk.context, x))) is not None:
                map_, found = plain, there
        _settle_patches(walk, way, found)
        _settle_map(walk, map_, applied(map_, stage_of("flattened_patches", 0)), found)
        return True
    return False


def _has_position_for_bias(walk: Walk, map_: LinearMap) -> bool:
    """Is it one row of a table with a row for each token, which every patch gets?"""
    if map_.bias is None or (read := walk.trace.used(map_.bias)).kind != "leaf":
        return False
    rows, rest = divmod(prod(walk.trace.leaves[read.number].shape), walk.sizes.embed_dim)
    return not rest and rows in (walk.sizes.patches, walk.sizes.tokens)


def _scaled_images(walk: Walk) -> Iterator[Predict]:
    """What the pass makes of the image by a factor and a shift for each channel."""
    image = walk.context.image
    for record in walk.trace.records[1:]:
        if record.image and prod(record.shape) == image.numel() and record.cells is not None:
            scaled = partial(_channels_first, GraphTensor(record.number))
            if _is_scaled(scaled(walk.context), image):
                yield scaled


def _channels_first(taken: GraphTensor, context: Context) -> torch.Tensor:
    x, shape = taken.tensor(context), context.image.shape
    return x.movedim(-1, 1) if x.dim() == len(shape) and x.shape != shape else x.reshape(shape)


def _is_scaled(x: torch.Tensor, image: torch.Tensor) -> bool:
    if x.shape != image.shape:
        return False
    pixels, before = x.transpose(0, 1).flatten(1), image.transpose(0, 1).flatten(1)
    low, high = before.argmin(1, keepdim=True), before.argmax(1, keepdim=True)
    bottom, span = before.gather(1, low), (before.gather(1, high) - before.gather(1, low))
    shift, factor = pixels.gather(1, low), (pixels.gather(1, high) - pixels.gather(1, low)) / span
    return bool((factor != 0).all()) and equal((before - bottom) * factor + shift, pixels)


def _with_positions(walk: Walk) -> bool:
    """Positions that were added to the patches' bias before the projection: S04 is no tensor then."""
    width, (rows, columns) = walk.sizes.embed_dim, walk.sizes.grid
    tables = walk.parameters.merged_of_size(rows * columns * width)
    for way in _USUAL if tables else ():
        x = way.rows(walk.context)
        for table in tables:
            plus = walk.context.use(table).reshape(1, -1, width).expand(len(x), -1, -1)
            for map_, _, found in walk.parameters.linears(x, -1, width, plus):
                _settle_patches(walk, way, found)
                predict: Predict = applied(map_, stage_of("flattened_patches", 0))
                walk.settle("patch_embeddings", 0, predict, None)
                walk.roles["projection"] = map_
                return True
    return False


def _settle_patches(walk: Walk, way: _Patches, found: Found) -> None:
    """S02 and S03 are observed if some record holds them, and implied by S04 otherwise."""
    cut, flattened = way.cut, way.flattened
    where = walk.find(way.windows(walk.context))
    scaled = () if way.image is _IMAGE else ("image-scaled-in-model",)
    walk.settle("patches", 0, way.windows, where, right=_cut, ids=(*scaled, *_ids(cut)), blame=cut.blame)
    right: Predict = combine(eq.flatten_patches, stage_of("patches", 0))
    where = walk.find(way.rows(walk.context))
    walk.settle(
        "flattened_patches", 0, way.rows, where, right=right, ids=_ids(flattened), blame=flattened.blame
    )


def _ids(form: Form) -> tuple[str, ...]:
    return () if form.id is None else (form.id,)


def _cut(context: Context) -> torch.Tensor:
    return eq.cut_patches(context.image, context.sizes.patch)


def _settle_map(walk: Walk, map_: LinearMap, predict: Predict, found: Found) -> None:
    walk.settle("patch_embeddings", 0, predict, found)
    walk.roles["projection"] = map_
    if map_.bias is None:
        walk.note("projection-bias-missing", "patch_embeddings", found.record)


def _per_position(walk: Walk) -> bool:
    """A linear layer of its own for every patch."""
    flat = _RIGHT.rows
    _, N, inputs = flat(walk.context).shape
    for use in walk.parameters.of_size(N * inputs * walk.sizes.embed_dim):

        def predict(context: Context, use: Use = use) -> torch.Tensor:
            x = flat(context)
            return torch.einsum("bnf,nfd->bnd", x, context.use(use).reshape(*x.shape[1:], -1))

        found = walk.find(predict(walk.context))
        if found:
            _settle_patches(walk, _RIGHT, found)
            walk.settle("patch_embeddings", 0, predict, found, ids=["projection-per-position"])
            return True
    return False


def _normed_patches(walk: Walk) -> bool:
    """A norm of the patches before the projection."""
    for way in _WAYS:
        for norm, normed, _ in walk.parameters.norms(way.rows(walk.context), -1):
            for map_, _, found in walk.parameters.linears(normed, -1, walk.sizes.embed_dim):
                _settle_patches(walk, way, found)
                _settle_map(walk, map_, applied(map_, applied(norm, stage_of("flattened_patches", 0))), found)
                walk.note("norm-after-projection", "patch_embeddings", found.record)
                return True
    return False
