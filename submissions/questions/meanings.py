"""What a constructor's argument may mean: mostly a size, as a function of them all. Imports no torch."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from pkgutil import resolve_name

from ...reference.model_sizes import ModelSizes
from ...reference.sizes import Sizes


def mlp_ratio(sizes: ModelSizes) -> float:
    """Return the ratio by which ``int(embed_dim * ratio)`` is exactly ``mlp_dim``."""
    if sizes.mlp_dim % sizes.embed_dim == 0:
        return sizes.mlp_dim // sizes.embed_dim
    ratio = sizes.mlp_dim / sizes.embed_dim
    return ratio if int(sizes.embed_dim * ratio) == sizes.mlp_dim else ratio * (1 + 1e-12)


def _square_or_pair(sizes: ModelSizes) -> int | tuple[int, int]:
    return sizes.height if sizes.height == sizes.width else (sizes.height, sizes.width)


_SIZES = (
    *("batch", "channels", "height", "width", "patch", "patches", "tokens"),
    *("embed_dim", "heads", "head_dim", "depth", "mlp_dim", "classes"),
)
VALUES: dict[str, Callable[[ModelSizes], object]] = {
    **{name: attrgetter(name) for name in _SIZES},
    "image": _square_or_pair,
    "image_pair": lambda s: (s.height, s.width),
    "image_chw": lambda s: (s.channels, s.height, s.width),
    "image_hwc": lambda s: (s.height, s.width, s.channels),
    "image_bchw": lambda s: (s.batch, s.channels, s.height, s.width),
    "pixels": lambda s: s.channels * s.height * s.width,
    "patch_pair": lambda s: (s.patch, s.patch),
    "patch_dim": lambda s: s.channels * s.patch**2,  # a flattened patch
    "patches_side": lambda s: s.grid[0],
    "patches_pair": lambda s: s.grid,
    "heads_list": lambda s: [s.heads] * s.depth,
    "mlp_ratio": mlp_ratio,
    "mlp_ratio_whole": lambda s: max(1, round(s.mlp_dim / s.embed_dim)),
    "dropout": lambda s: 0.1,  # with 0 no mistake about modes shows
    "eps": lambda s: 1e-5,
    "flag_on": lambda s: True,
    "flag_off": lambda s: False,
    "zero": lambda s: 0,
    "device": lambda s: "cpu",
    "dtype": lambda s: None,
    "activation": lambda s: resolve_name("torch.nn:GELU"),
    "activation_module": lambda s: resolve_name("torch.nn:GELU")(),
    "activation_function": lambda s: resolve_name("torch.nn.functional:gelu"),
    "activation_name": lambda s: "gelu",
    "norm": lambda s: resolve_name("torch.nn:LayerNorm"),
    "class_weights": lambda s: [1.0] * s.classes,
}

FIELDS: dict[str, tuple[str, ...]] = {  # the fields of Sizes that an argument of this meaning sets
    **{name: (name,) for name in Sizes.__dataclass_fields__},
    "image": ("height", "width"),
    "image_pair": ("height", "width"),
    "image_chw": ("channels", "height", "width"),
    "image_hwc": ("channels", "height", "width"),
    "image_bchw": ("batch", "channels", "height", "width"),
    "patch_pair": ("patch",),
    "patch_dim": ("channels", "patch"),
    "patches": ("height", "width"),
    "patches_side": ("height", "width"),
    "patches_pair": ("height", "width"),
    "tokens": ("height", "width"),
    "heads_list": ("heads",),
    "head_dim": ("heads",),
    "mlp_ratio": ("mlp_dim",),
    "mlp_ratio_whole": ("mlp_dim",),
}


def fields_of(meaning: str) -> tuple[str, ...]:
    """List the sizes that an argument of this meaning sets: a size that only one architecture has, itself."""
    return FIELDS.get(meaning, () if meaning in VALUES else (meaning,))


def value_of(meaning: str, sizes: ModelSizes) -> object:
    """Return what an argument of this meaning is given at ``sizes``."""
    return VALUES[meaning](sizes) if meaning in VALUES else getattr(sizes, meaning)
