"""The sizes of a Vision Transformer, and the named ones. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass

from .model_sizes import ModelSizes


@dataclass(frozen=True)
class Sizes(ModelSizes):
    """Every size that the shapes of the 26 stages depend on.

    Raises ValueError, naming both numbers, where sizes do not fit each other.
    """

    input_axes = "B C H W"
    lengths = ("height", "width")
    letters = {  # noqa: RUF012  # the base declares it a class variable
        "batch": "B",
        "channels": "C",
        "height": "H",
        "width": "W",
        "patch": "P",
        "embed_dim": "D",
        "heads": "h",
        "mlp_dim": "M",
        "depth": "L",
        "classes": "K",
    }

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
        super().__post_init__()
        for name in ("height", "width"):
            if getattr(self, name) % self.patch:
                raise ValueError(
                    f"image {name} {getattr(self, name)} is not a multiple of the patch side {self.patch}"
                )

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
    def axes(self) -> dict[str, int]:
        """The size of each axis by the letter that the stage table uses (``F`` is a flattened patch)."""
        flat = self.channels * self.patch**2
        return super().axes | {"N": self.patches, "F": flat, "T": self.tokens}


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
        raise ValueError(f"{name!r} is not a named size; there are {known}")
    embed_dim, heads, depth, mlp_dim = _WIDTHS[letter]
    return Sizes(patch=int(patch), embed_dim=embed_dim, heads=heads, depth=depth, mlp_dim=mlp_dim)
