"""How patches, tokens and positions are made, rightly and wrongly, as data (see forms)."""

from __future__ import annotations

from itertools import permutations

import torch
from torch import Tensor

from ...reference import equations as eq
from ..locating.forms import LAYOUT, VARIANT, Form, from_catalogue

# S02, given the image and the side of a patch; and S03, given that.
CUTS = (Form(eq.cut_patches), *from_catalogue("cut_patches"))
FLATTENED = (Form(eq.flatten_patches), *from_catalogue("flatten_patches"))


def _in_order(order: tuple[int, ...]) -> Form:
    """The five axes of windows (C, rows, pixels, columns, pixels) in another order, and reshaped then."""

    def cut(image: Tensor, patch: int) -> Tensor:
        B, C, H, W = image.shape
        windows = image.reshape(B, C, H // patch, patch, W // patch, patch)
        return windows.permute(0, *order).reshape(B, -1, C, patch, patch)

    return Form(cut, "patch-axes-mixed")


def _channel_by_channel(image: Tensor, patch: int) -> Tensor:
    return image.reshape(*image.shape[:2], -1, patch, patch).transpose(1, 2)


# Those in which rows and columns of windows do not stand in front, side by side, and that without windows.
CUTS_MIXED = (
    *(_in_order(one) for one in permutations((1, 2, 3, 4, 5)) if {*one[:2]} != {2, 4}),
    Form(_channel_by_channel, "patch-view-whole-image"),
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
    Form(lambda x, columns: _times_root(x), "embeddings-scaled", "patch_embeddings", VARIANT),
)


def _times_root(x: Tensor) -> Tensor:
    """As embeddings of words are scaled: Vaswani et al., section 3.4."""
    return x * float(x.shape[-1] ** 0.5)


def _token(token: Tensor, x: Tensor) -> Tensor:
    """One token for all images, or one an image, as B 1 D."""
    return token.reshape(-1, 1, x.shape[-1]).expand(x.shape[0], 1, -1)


# S06, given the class token (D or B·D numbers) and what S04 became.
TOKENS = (
    Form(lambda token, x: eq.prepend_class_token(_token(token, x), x)),
    *from_catalogue("prepend_class_token", lambda put: lambda token, x: put(_token(token, x), x)),
)
TOKEN_OF_PATCHES = Form(
    lambda x: torch.cat([x.mean(1, keepdim=True), x], 1), "cls-mean-of-patches", "class_token", VARIANT
)
TOKENS_WITHOUT = (TOKEN_OF_PATCHES, Form(lambda x: x, "cls-missing", cost=VARIANT))


def _table(positions: Tensor, x: Tensor) -> Tensor:
    """Row under row, but for one number a token."""
    return positions if positions.shape[-1] == 1 else positions.reshape(-1, x.shape[-1])


def _twice_to_patches(table: Tensor, x: Tensor) -> Tensor:
    """Before there is a class token, and with it."""
    return x + torch.cat([table[:1], 2 * table[1:]])


# S07, given a table of positions and S06; tried with every candidate whose size makes it work.
POSITIONS = (
    Form(lambda positions, x: eq.add_positions(x, positions.reshape(x.shape[1:]))),
    *from_catalogue("add_positions", lambda add: lambda positions, x: add(x, _table(positions, x))),
    Form(lambda positions, x: torch.cat([x, _table(positions, x).expand(x.shape)], -1), "pos-concatenated"),
    Form(lambda positions, x: _twice_to_patches(positions.reshape(x.shape[1:]), x), "pos-added-twice"),
    Form(lambda positions, x: _times_root(x) + _table(positions, x), "embeddings-scaled", cost=VARIANT),
)
# The same where the class token comes last: every token keeps the row that it has in front, or patches alone
# have rows.
POSITIONS_MOVED = (
    Form(lambda positions, x: x + positions.reshape(x.shape[1:]).roll(-1, 0)),
    Form(
        lambda positions, x: torch.cat([x[:, :-1] + _table(positions, x)[1 - x.shape[1] :], x[:, -1:]], 1),
        "cls-without-position",
        cost=VARIANT,
    ),
)
