"""Child side: how a script is run at other sizes than its own."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from ....reference.sizes import Sizes
from ...questions.meanings import fields_of
from ..building.calls.blueprint import value
from ..building.trial_sizes import SMALL, fit
from .script_tracing import Place
from .script_windows import Window

# ViT-B/16 a quarter as wide: a patch still has as many numbers as a token, a head keeps its 64, the grid its
# 14 rows, so that what is computed from these numbers stays right
QUARTER = {768: 192, 3072: 768, 2304: 576, 12: 3, 16: 8, 224: 112, 256: 128}
_COLOURS = 3
AS_WRITTEN: Mapping[int, int] = {}
_ONE = replace(SMALL, batch=1)
# what of it is changed together, so that it goes together
_OTHERS = (
    {"height": 21, "width": 21, "patch": 3},
    {"embed_dim": 40, "heads": 5, "mlp_dim": 280},
    {"depth": 3},
    {"classes": 13},
)


@dataclass(frozen=True)
class Way:
    """How a script is run: the sizes that it follows and by which constants, and the sizes that it fixes."""

    constants: Mapping[str, str]  # name: meaning
    follows: frozenset[str]
    fixed: Mapping[str, int]
    shortened: bool
    pictures: Mapping[Place, Window]
    numbers: Mapping[int, int]  # for those that are written out in the code
    whole: Mapping[str, int]  # the fixed sizes with the numbers as they are written
    mlp_ratio: int = 0  # where mlp_dim is embed_dim times this

    def sizes_for(self, sizes: Sizes) -> Sizes:
        """The nearest sizes that the script can be run at."""
        if not {"height", "width"} & set(self.fixed):  # from one constant, so far as is known
            sizes = fit(replace(sizes, width=sizes.height), {})
        if not self.follows:
            full = sizes.embed_dim >= self.whole["embed_dim"]
            return fit(sizes, self.whole if full else self.fixed)
        found = fit(sizes, self.fixed)
        return replace(found, mlp_dim=found.embed_dim * self.mlp_ratio) if self.mlp_ratio else found

    def numbers_at(self, sizes: Sizes) -> Mapping[int, int]:
        """Those that it is run with at sizes that ``sizes_for`` gave: none where it has its whole sizes."""
        other = [name for name, size in self.fixed.items() if size != self.whole[name]]
        is_whole = any(getattr(sizes, name) == self.whole[name] for name in other)
        return AS_WRITTEN if is_whole else self.numbers

    def values(self, sizes: Sizes) -> dict[str, object]:
        """What the constants are set to."""
        return {name: value(meaning, sizes) for name, meaning in self.constants.items()}


def unlike(constants: Mapping[str, str], own: Mapping[str, object]) -> Sizes:
    """Small sizes at which no constant has the value that it has in the code, or it seems to set any size."""
    alike = (one for name, one in constants.items() if value(one, _ONE) == own[name])
    same = {field for one in alike for field in fields_of(one)}
    return replace(_ONE, **{k: v for others in _OTHERS if same & others.keys() for k, v in others.items()})


def tells_apart(written: Collection[object]) -> bool:
    """Is a quarter of one of these numbers of the code no other of them? Three are the channels."""
    quarters = {new for old, new in QUARTER.items() if old in written and new != _COLOURS}
    return not any(one in written and one not in QUARTER for one in quarters)


def scaled(sizes: Sizes) -> Sizes:
    """A quarter of them, if the image still holds whole patches then."""
    side, patch, heads = (QUARTER.get(one, one) for one in (sizes.height, sizes.patch, sizes.heads))
    sizes = replace(sizes, heads=heads)  # which nothing shows before they attend
    return sizes if side % patch else replace(sizes, height=side, width=side, patch=patch)


def whole_sizes(sizes: Mapping[str, int], numbers: Mapping[int, int]) -> dict[str, int]:
    """Sizes as the code has them, where they came out as these with other numbers: with as many patches."""
    written = {after: before for before, after in numbers.items()}
    kept = ("batch", "channels", "depth")
    whole = {name: size if name in kept else written.get(size, size) for name, size in sizes.items()}
    if {"height", "patch"} <= sizes.keys():
        counts = (one["height"] // one["patch"] for one in (sizes, whole))
        if len({*counts}) > 1:
            whole |= {name: sizes[name] for name in ("height", "width", "patch") if name in sizes}
    return whole
