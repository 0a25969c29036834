"""How patches, tokens and positions are made, rightly and wrongly, as data (see forms)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import torch
from torch import Tensor
from torch.nn import functional as F

from ...reference import equations as eq
from ..locating.forms import LAYOUT, RARE, VARIANT, Form, from_catalogue


def _grid(image: Tensor, patch: int) -> Tensor:
    """Shape B gh gw C P P."""
    B, C, H, W = image.shape
    return image.reshape(B, C, H // patch, patch, W // patch, patch).permute(0, 2, 4, 1, 3, 5)


def _right_patches(image: Tensor, patch: int) -> Tensor:
    return eq.flatten_patches(eq.cut_patches(image, patch))


def _in_patch_order(order: tuple[int, ...]) -> Callable[[Tensor, int], Tensor]:
    return lambda image, patch: (
        _grid(image, patch).permute(0, 1, 2, *(3 + axis for axis in order)).flatten(1, 2).flatten(2)
    )


def _patches_by_columns(image: Tensor, patch: int) -> Tensor:
    return _grid(image, patch).transpose(1, 2).flatten(1, 2).flatten(2)


def _patches_by_view(image: Tensor, patch: int) -> Tensor:
    return image.reshape(image.shape[0], -1, image.shape[1] * patch**2)


def _patches_unpermuted(image: Tensor, patch: int) -> Tensor:
    return _patches_by_view(image.unfold(2, patch, patch).unfold(3, patch, patch).flatten(3), patch)


def _strided_pixels(image: Tensor, patch: int) -> Tensor:
    B, C, H, W = image.shape
    thumbnails = image.reshape(B, C, patch, H // patch, patch, W // patch).permute(0, 3, 5, 1, 2, 4)
    return thumbnails.flatten(1, 2).flatten(2)


def _grid_swapped(image: Tensor, patch: int) -> Tensor:
    B, C, H, W = image.shape
    swapped = image.reshape(B, C, W // patch, patch, H // patch, patch)
    return swapped.permute(0, 2, 4, 1, 3, 5).flatten(1, 2).flatten(2)


def _unfold_recut(image: Tensor, patch: int) -> Tensor:
    columns = F.unfold(image, patch, stride=patch)
    return columns.reshape(columns.shape[0], columns.shape[2], columns.shape[1])


def _overlapping(divisor: int) -> Callable[[Tensor, int], Tensor]:
    return lambda image, patch: F.unfold(image, patch, stride=max(1, patch // divisor)).mT


def _in_patch_forms() -> list[Form]:
    named: dict[tuple[int, ...], str] = {
        (1, 2, 0): "flatten-channel-last",
        (0, 2, 1): "patch-pixels-transposed",
    }
    orders = [order for order in permutations(range(3)) if order != (0, 1, 2)]
    return [
        Form(_in_patch_order(order), named.get(order, "patch-pixels-transposed"), "flattened_patches", LAYOUT)
        for order in sorted(orders, key=lambda one: one not in named)
    ]


PATCHES = (
    Form(_right_patches),
    *_in_patch_forms(),
    Form(_patches_by_columns, "patch-columns-first", "patches", LAYOUT),
    Form(_patches_by_view, "patch-view-whole-image", "patches"),
    Form(_patches_unpermuted, "unfold-view-no-permute", "patches"),
    Form(_strided_pixels, "strided-pixel-patches", "patches"),
    Form(_grid_swapped, "grid-dims-swapped", "patches"),
    Form(_unfold_recut, "unfold-reshape-not-transpose", "flattened_patches"),
    *(Form(_overlapping(divisor), "overlapping-patches", "patches") for divisor in (2, 4, 3)),
    *from_catalogue("cut_patches", lambda cut: lambda image, patch: cut(image, patch).flatten(2)),
    *from_catalogue("flatten_patches", lambda flat: lambda image, patch: flat(eq.cut_patches(image, patch))),
)


def _recut(x: Tensor) -> Tensor:
    return x.mT.reshape(x.shape)


# What the sequence is made of, given S04 and the number of patch columns.
EMBEDDINGS = (
    Form(lambda x, columns: x),
    Form(
        lambda x, columns: x.unflatten(1, (-1, columns)).transpose(1, 2).flatten(1, 2),
        "conv-tokens-column-major",
        "patch_embeddings",
        LAYOUT,
    ),
    Form(lambda x, columns: _recut(x), "conv-reshape-not-transpose", "patch_embeddings"),
    Form(lambda x, columns: x.relu(), "activation-after-projection", "patch_embeddings", VARIANT),
    Form(lambda x, columns: eq.gelu(x), "activation-after-projection", "patch_embeddings", VARIANT),
    Form(lambda x, columns: x.tanh(), "activation-after-projection", "patch_embeddings", VARIANT),
)


def _token(token: Tensor, x: Tensor) -> Tensor:
    """One token for all images, or one an image, as B 1 D."""
    return token.reshape(-1, 1, x.shape[-1]).expand(x.shape[0], 1, -1)


def _overwrite_first(token: Tensor, x: Tensor) -> Tensor:
    return torch.cat([_token(token, x), x[:, 1:]], 1)


def _cat_on_batch(token: Tensor, x: Tensor) -> Tensor:
    return torch.cat([token.reshape(-1, 1, x.shape[-1])[:1].expand(1, x.shape[1], -1), x], 0)


# S06, given the class token (D or B·D numbers) and what S04 became.
TOKENS = (
    Form(lambda token, x: eq.prepend_class_token(_token(token, x), x)),
    Form(lambda token, x: torch.cat([x, _token(token, x)], 1), "cls-appended-last"),
    Form(lambda token, x: x + _token(token, x), "cls-added-not-concatenated"),
    Form(_overwrite_first, "cls-overwrites-first-patch"),
    Form(_cat_on_batch, "cls-cat-on-batch-dim"),
    *from_catalogue("prepend_class_token", lambda put: lambda token, x: put(_token(token, x), x)),
)
TOKENS_WITHOUT = (
    Form(lambda x: torch.cat([x.mean(1, keepdim=True), x], 1), "cls-mean-of-patches", "class_token", VARIANT),
    Form(lambda x: x, "cls-missing"),
)


def _table(positions: Tensor, x: Tensor) -> Tensor:
    return positions.reshape(-1, x.shape[-1])


def _rolled(shift: int) -> Callable[[Tensor, Tensor], Tensor]:
    return lambda positions, x: x + positions.reshape(x.shape[1:]).roll(shift, 0)


# The same where the class token comes last: every token keeps the row that it has in front.
POSITIONS_MOVED = Form(_rolled(-1))


def _patches_only(positions: Tensor, x: Tensor) -> Tensor:
    return torch.cat([x[:, :1], x[:, 1:] + _table(positions, x)[-(x.shape[1] - 1) :]], 1)


def _row_twice(positions: Tensor, x: Tensor) -> Tensor:
    table = _table(positions, x)
    return x + torch.cat([table[:1], table], 0)


def _last_row_twice(positions: Tensor, x: Tensor) -> Tensor:
    table = _table(positions, x)
    return x + torch.cat([table, table[-1:]], 0)


# S07, given a table of positions and S06; tried with every candidate whose size makes it work.
POSITIONS = (
    Form(lambda positions, x: eq.add_positions(x, positions.reshape(x.shape[1:]))),
    Form(_patches_only, "cls-without-position", cost=VARIANT),
    Form(lambda positions, x: x + 2 * positions.reshape(x.shape[1:]), "pos-added-twice"),
    Form(_rolled(1), "pos-off-by-one"),
    Form(_rolled(-1), "pos-off-by-one"),
    Form(lambda positions, x: x + positions.reshape(-1, x.shape[1] + 1, x.shape[2])[0, 1:], "pos-off-by-one"),
    Form(lambda positions, x: x * positions.reshape(x.shape[1:]), "pos-multiplied"),
    Form(_row_twice, "pos-before-cls-row-mismatch"),
    Form(_last_row_twice, "pos-before-cls-row-mismatch"),
    Form(lambda positions, x: x + positions.reshape(x.shape[0], 1, x.shape[2]), "pos-batch-shaped"),
    Form(lambda positions, x: x + positions.reshape(x.shape[2]), "pos-single-vector", cost=RARE),
    Form(lambda positions, x: torch.cat([x, _table(positions, x).expand(x.shape)], -1), "pos-concatenated"),
    *from_catalogue("add_positions", lambda add: lambda table, x: add(x, table.reshape(x.shape[1:]))),
)
