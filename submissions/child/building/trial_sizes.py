"""The sizes that models are tried at, and those nearest to them that have what a model has fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import gcd, lcm

from ....reference.model_sizes import AnySizes
from ....reference.sizes import Sizes

# All letters differ, and differ from all their products that a layer may have (4 and 3 times the width too).
# No number of tokens is that of images: a wrong model may return scores of each token.
SMALL = Sizes(
    batch=3, channels=3, height=20, width=20, patch=4, embed_dim=60, heads=6, mlp_dim=300, depth=2, classes=11
)
BASES = (  # for models with hard-coded sizes that the small one does not fit
    SMALL,
    replace(SMALL, embed_dim=192, heads=12, mlp_dim=960),
    replace(SMALL, height=32, width=32, embed_dim=192, heads=4, mlp_dim=960),
    replace(SMALL, height=224, width=224, patch=16, embed_dim=192, heads=4, mlp_dim=960),
    replace(SMALL, height=28, width=28, patch=7, embed_dim=64, heads=4, mlp_dim=320, channels=1),
    replace(SMALL, height=224, width=224, patch=16, embed_dim=768, heads=12, mlp_dim=3072),
)

_WAVES = 4  # sines and cosines, of rows and of columns, have a quarter of the width each

_MOST_ROWS = 2  # times those that are asked for


def fit(sizes: AnySizes, fixed: Mapping[str, int]) -> AnySizes:
    """Return the sizes nearest to ``sizes`` that have the ``fixed`` fields and fit each other."""
    want = {**vars(sizes), **{name: one for name, one in fixed.items() if one}}
    if isinstance(sizes, Sizes):
        _fit_patches(want, sizes, fixed)
    if want["embed_dim"] % want["heads"]:
        if "embed_dim" in fixed:
            want["heads"] = _divisor(want["embed_dim"], want["heads"])
        else:
            step = lcm(want["heads"], _WAVES)
            want["embed_dim"] = max(1, round(want["embed_dim"] / step)) * step
    return type(sizes)(**want)


def _fit_patches(want: dict[str, int], sizes: Sizes, fixed: Mapping[str, int]) -> None:
    """Make the patch divide the sides that are fixed, and the other sides multiples of the patch.

    Where that would make far more patches than are asked for, they are larger: hundreds of tokens take long.
    """
    sides = gcd(*(fixed[side] for side in ("height", "width") if side in fixed))
    rows = sizes.height // sizes.patch
    if "patch" not in fixed and sides > _MOST_ROWS * rows * want["patch"]:
        want["patch"] = sides // rows
    if sides % want["patch"]:
        want["patch"] = _divisor(sides, want["patch"])
    for side in ("height", "width"):
        if want[side] % want["patch"]:
            want[side] = max(1, getattr(sizes, side) // sizes.patch) * want["patch"]


def _divisor(number: int, near: int) -> int:
    """Return the divisor of ``number`` nearest to ``near``."""
    return min((one for one in range(1, number + 1) if number % one == 0), key=lambda one: abs(one - near))
