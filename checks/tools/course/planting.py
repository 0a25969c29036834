"""The reference as a submission, right or with a known mistake planted in it. Imports no torch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from ....submissions.reading.packing import Handed
from ...architecture.catalogue import Edit, Mistake, mistakes

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


@cache
def plantable(architecture: str) -> Mapping[str, Mistake]:
    """Return each mistake that can be planted in this architecture, by its id."""
    return {
        id: known
        for id, known in mistakes().items()
        if known.equation or {"any", architecture} & known.planted.keys()
    }


def reference_as_submission(architecture: str, mistake: str = "") -> Handed:
    """Return the reference's own code as something that was handed in, with the mistake in it, if any.

    Raises KeyError where it cannot be planted, and ValueError where the reference is no longer as the edits
    have it.
    """
    texts = {name: files("vitcheck.reference").joinpath(f"{name}.py").read_text("utf-8") for name in _FILES}
    if mistake:
        _plant(texts, plantable(architecture)[mistake], architecture)
    model = _MODEL.format(variant=architecture.upper().replace("-", "_"))
    content = {f"reference_vit/{name}.py": text for name, text in texts.items()}
    content |= {"reference_vit/__init__.py": "", "vit.py": model.lstrip()}
    return Handed("reference", True, {name: text.encode() for name, text in content.items()})


def _plant(texts: dict[str, str], known: Mistake, architecture: str) -> None:
    for name, wrong in known.equation.items():
        texts["equations"] += _equation(texts["equations"], name, wrong)
    for edit in known.planted.get("any", known.planted.get(architecture, ())):
        _edit(texts, known.id, edit)


def _equation(text: str, name: str, wrong: str) -> str:
    """The function once more, after the right one, which it takes the place of."""
    functions = {one.name: one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    arguments = ", ".join(one.arg for one in functions[name].args.args)
    return f"\n\ndef {name}({arguments}):\n    return {wrong}\n"


def _edit(texts: dict[str, str], id: str, edit: Edit) -> None:
    old, new = edit
    there = [name for name, text in texts.items() for _ in range(text.count(old))]
    if len(there) != 1:
        raise ValueError(f"{id}: {old!r} stands {len(there)} times in the reference")
    texts[there[0]] = texts[there[0]].replace(old, new)
