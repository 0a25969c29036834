"""S02 to S04: patches, flattened patches, and their embeddings."""

from __future__ import annotations

import torch

from ...reference import equations as eq
from ...submissions.host.trace import Use
from ..locating.context import Context, Predict
from ..locating.forms import Form
from ..locating.search.parameter_search import LinearMap
from ..locating.search.places import Found
from ..locating.walk import Walk, applied, combine, stage_of
from .token_forms import PATCHES

_USUAL = [one for one in PATCHES if one.id in (None, "flatten-channel-last")]


def patch_embeddings(walk: Walk) -> bool:
    """Settles S02 to S04; False where no known map of any patches is in the trace."""
    for form in PATCHES:
        flat = _patches(form)
        x = flat(walk.context)
        for map_, _, found in walk.parameters.linears(x, after=-1, outputs=walk.sizes.embed_dim):
            _settle_patches(walk, form, flat, found)
            _settle_map(walk, map_, applied(map_, stage_of("flattened_patches", 0)), found)
            return True
    return _with_positions(walk) or _per_position(walk) or _normed_patches(walk)


def _with_positions(walk: Walk) -> bool:
    """Positions that were added to the patches' bias before the projection: S04 is no tensor then."""
    width, (rows, columns) = walk.sizes.embed_dim, walk.sizes.grid
    tables = walk.parameters.merged_of_size(rows * columns * width)
    for form in _USUAL if tables else ():
        flat = _patches(form)
        x = flat(walk.context)
        for table in tables:
            plus = walk.context.use(table).reshape(1, -1, width).expand(len(x), -1, -1)
            for map_, _, found in walk.parameters.linears(x, -1, width, plus):
                _settle_patches(walk, form, flat, found)
                predict: Predict = applied(map_, stage_of("flattened_patches", 0))
                walk.settle("patch_embeddings", 0, predict, None)
                walk.roles["projection"] = map_
                return True
    return False


def _patches(form: Form) -> Predict:
    return lambda context: form.function(context.image, context.sizes.patch)


def _settle_patches(walk: Walk, form: Form, flat: Predict, found: Found) -> None:
    """S02 and S03 are observed if some record holds them, and implied by S04 otherwise."""
    ids = () if form.id is None else (form.id,)
    right = _cut
    if form.blame != "patches":
        walk.settle("patches", 0, right, walk.find(right(walk.context)), blame=form.blame)
        flattened: Predict = combine(eq.flatten_patches, stage_of("patches", 0))
        walk.settle("flattened_patches", 0, flat, walk.find(flat(walk.context)), right=flattened, ids=ids)
        return
    cut = _windows(flat)
    walk.settle("patches", 0, cut, walk.find(cut(walk.context)), right=right, ids=ids)
    walk.settle("flattened_patches", 0, flat, walk.find(flat(walk.context)))


def _cut(context: Context) -> torch.Tensor:
    return eq.cut_patches(context.image, context.sizes.patch)


def _windows(flat: Predict) -> Predict:
    """From B N C·P·P to B N C P P."""

    def predict(context: Context) -> torch.Tensor:
        x, P = flat(context), context.sizes.patch
        return x.reshape(*x.shape[:2], -1, P, P)

    return predict


def _settle_map(walk: Walk, map_: LinearMap, predict: Predict, found: Found) -> None:
    walk.settle("patch_embeddings", 0, predict, found)
    walk.roles["projection"] = map_
    if map_.bias is None:
        walk.note("projection-bias-missing", "patch_embeddings", found.record)


def _per_position(walk: Walk) -> bool:
    """A linear layer of its own for every patch."""
    flat = _patches(PATCHES[0])
    _, N, inputs = flat(walk.context).shape
    for use in walk.parameters.of_size(N * inputs * walk.sizes.embed_dim):

        def predict(context: Context, use: Use = use) -> torch.Tensor:
            x = flat(context)
            return torch.einsum("bnf,nfd->bnd", x, context.use(use).reshape(*x.shape[1:], -1))

        found = walk.find(predict(walk.context))
        if found:
            _settle_patches(walk, PATCHES[0], flat, found)
            walk.settle("patch_embeddings", 0, predict, found, ids=["projection-per-position"])
            return True
    return False


def _normed_patches(walk: Walk) -> bool:
    """A norm of the patches before the projection."""
    for form in _USUAL:
        flat = _patches(form)
        for norm, normed, _ in walk.parameters.norms(flat(walk.context), -1):
            for map_, _, found in walk.parameters.linears(normed, -1, walk.sizes.embed_dim):
                _settle_patches(walk, form, flat, found)
                _settle_map(walk, map_, applied(map_, applied(norm, stage_of("flattened_patches", 0))), found)
                walk.note("norm-after-projection", "patch_embeddings", found.record)
                return True
    return False
