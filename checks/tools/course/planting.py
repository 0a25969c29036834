"""The reference as a submission, right or with a known mistake planted in it. Imports no torch."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from ....submissions.reading.packing import HandIn
from ...architecture.catalogue import Mistake, mistakes

_FILES = ("model_sizes", "sizes", "equations", "vit")  # of the reference, which a submission cannot import
_IN_OTHERS = {"gelu": "quick_gelu", "mlp_sum": "report_mlp_sum"}  # what has its place in other architectures
_MODEL = """
import torch
from torch import nn

from reference_vit import equations as eq
from reference_vit.sizes import Sizes
from reference_vit.vit import {variant}, ReferenceViT


class ViT(ReferenceViT):
    def __init__(self, image_height, image_width, in_channels, patch_size, embed_dim, num_heads, mlp_dim,
                 depth, num_classes):
        sizes = Sizes(1, in_channels, image_height, image_width, patch_size, embed_dim, num_heads, mlp_dim,
                      depth, num_classes)
        super().__init__(sizes, {variant})
        {planted}

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
        if (known.equation or known.planted) and architecture in known.planted_in
    }


def reference_as_submission(
    architecture: str, *mistakes: str, instead: Mapping[str, str] = MappingProxyType({})
) -> HandIn:
    """Return the reference's own code as something that was handed in, with these mistakes in it.

    ``instead`` is what other functions of reference/equations.py return. Raises KeyError where a mistake
    cannot be planted.
    """
    texts = {name: files("vitcheck.reference").joinpath(f"{name}.py").read_text("utf-8") for name in _FILES}
    known = [plantable(architecture)[id] for id in mistakes]
    wrong = {name: first for one in known for name, (first, *_) in one.equation.items()} | dict(instead)
    for name, returned in wrong.items():
        texts["equations"] += _instead(texts["equations"], name, returned)
    variant = architecture.upper().replace("-", "_")
    planted = "\n        ".join(one.planted for one in known if one.planted)
    model = _MODEL.format(variant=variant, planted=planted)
    content = {f"reference_vit/{name}.py": text for name, text in texts.items()}
    content |= {"reference_vit/__init__.py": "", "vit.py": model.lstrip()}
    return HandIn("reference", True, {name: text.encode() for name, text in content.items()})


def _instead(text: str, name: str, wrong: str) -> str:
    """What stands behind the right function and takes its place."""
    functions = {one.name: one for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
    arguments = ", ".join(one.arg for one in functions[name].args.args)
    names = [name, *([_IN_OTHERS[name]] if name in _IN_OTHERS else [])]
    return f"\n\n{' = '.join(names)} = lambda {arguments}: {wrong}\n"
