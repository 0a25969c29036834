"""The sizes of a Vision Transformer, and the named ones. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """Every size that the shapes of the 26 stages depend on.

    Raises ValueError, naming both numbers, where sizes do not fit each other.
    """

    batch: int = 1
    channels: int = 3
    height: int = 224  # of the image, in pixels
    width: int = 224
    patch: int = 16  # side of a square patch, in pixels
    embed_dim: int = 768
    heads: int = 12
    mlp_dim: int = 3072
    depth: int = 12
    classes: int = 1000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value < 1:
                raise ValueError(f"{name} is {value}, and must be at least 1")
        for name in ("height", "width"):
            if getattr(self, name) % self.patch:
                raise ValueError(
                    f"image {name} {getattr(self, name)} is not a multiple of the patch side {self.patch}"
                )
        if self.embed_dim % self.heads:
            raise ValueError(f"embed_dim {self.embed_dim} is not a multiple of heads {self.heads}")

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return self.height // self.patch, self.width // self.patch

    @property
    def patches(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def tokens(self) -> int:
        """Patches and the class token."""
        return self.patches + 1

    @property
    def head_dim(self) -> int:
        return self.embed_dim // self.heads

    @property
    def axes(self) -> dict[str, int]:
        """The size of each axis by the letter that the stage table uses (``F`` is a flattened patch)."""
        return {
            "B": self.batch,
            "C": self.channels,
            "H": self.height,
            "W": self.width,
            "P": self.patch,
            "N": self.patches,
            "F": self.channels * self.patch**2,
            "T": self.tokens,
            "D": self.embed_dim,
            "h": self.heads,
            "d": self.head_dim,
            "M": self.mlp_dim,
            "L": self.depth,
            "K": self.classes,
        }


_WIDTHS = {  # embed_dim, heads, depth, mlp_dim: Dosovitskiy et al. 2020, table 1; S from Touvron et al. 2021
    "S": (384, 6, 12, 1536),
    "B": (768, 12, 12, 3072),
    "L": (1024, 16, 24, 4096),
    "H": (1280, 16, 32, 5120),
}
_PATCHES = (8, 14, 16, 32)


def preset(name: str) -> Sizes:
    """The sizes called ``name``, such as ``"B/16"``: S, B, L, H at patch 8, 14, 16, 32 on 224x224 images.

    Raises ValueError for any other name.
    """
    letter, _, patch = name.partition("/")
    if letter not in _WIDTHS or patch not in map(str, _PATCHES):
        known = ", ".join(f"{one}/{side}" for one in _WIDTHS for side in _PATCHES)
        raise ValueError(f"{name!r} is no named size; there are {known}")
    embed_dim, heads, depth, mlp_dim = _WIDTHS[letter]
    return Sizes(patch=int(patch), embed_dim=embed_dim, heads=heads, depth=depth, mlp_dim=mlp_dim)
