"""The reference as a submission, right or with a known mistake planted in it. Imports no torch."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from ....submissions.reading.packing import Handed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_FILES = ("model_sizes", "sizes", "equations", "vit")  # of the reference, which a submission cannot import
_MODEL = """
from reference_vit.sizes import Sizes
from reference_vit.vit import {variant}, ReferenceViT


class ViT(ReferenceViT):
    def __init__(self, image_height, image_width, in_channels, patch_size, embed_dim, num_heads, mlp_dim,
                 depth, num_classes):
        sizes = Sizes(1, in_channels, image_height, image_width, patch_size, embed_dim, num_heads, mlp_dim,
                      depth, num_classes)
        super().__init__(sizes, {variant})

    def forward(self, image):
        stages = super().forward(image)
        return {{key: stages[key] for key in ("logits", "class_probabilities") if key in stages}}
"""

Edit = Sequence[str]  # what stands in the reference once, and what takes its place


@cache
def plantable(architecture: str) -> Mapping[str, Sequence[Edit]]:
    """Return what makes each mistake that can be planted in this architecture, by its id."""
    tables = tomllib.loads(files(__package__).joinpath("planted.toml").read_text("utf-8"))
    found: dict[str, Sequence[Edit]] = tables["any"] | tables.get(architecture, {})
    return found


def reference_as_submission(architecture: str, mistake: str = "") -> Handed:
    """Return the reference's own code as something that was handed in, with the mistake in it, if any.

    Raises KeyError where it cannot be planted, and ValueError where the reference is no longer as the edits
    have it.
    """
    texts = {name: files("vitcheck.reference").joinpath(f"{name}.py").read_text("utf-8") for name in _FILES}
    for old, new in plantable(architecture)[mistake] if mistake else ():
        there = [name for name, text in texts.items() for _ in range(text.count(old))]
        if len(there) != 1:
            raise ValueError(f"{mistake}: {old!r} stands {len(there)} times in the reference")
        texts[there[0]] = texts[there[0]].replace(old, new)
    model = _MODEL.format(variant=architecture.upper().replace("-", "_"))
    content = {f"reference_vit/{name}.py": text for name, text in texts.items()}
    content |= {"reference_vit/__init__.py": "", "vit.py": model.lstrip()}
    return Handed("reference", True, {name: text.encode() for name, text in content.items()})
