"""Images as the student's own code makes them: a model of one size may be meant for no others."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import suppress

from ....reference.sizes import Sizes
from ..loading.definitions import Definitions
from .probing import fit

_CHANNELS = 1, 3
_LEAST_SIDE = 8
_MOST = 4  # different ones


def with_own_images(sizes: Sizes, definitions: Definitions) -> list[Sizes]:
    """The nearest sizes with images as they stand in the code, the first ones first.

    They are three or four whole numbers side by side, such as ``torch.rand(8, 3, 24, 32)``: channels and
    sides, the channels first.
    """
    nodes = (node for tree in definitions.trees for node in ast.walk(tree))
    found = dict.fromkeys(shape for node in nodes for shape in _shapes(_elements(node), definitions))
    return [
        fit(sizes, {"channels": channels, "height": height, "width": width})
        for channels, height, width in list(found)[:_MOST]
    ]


def _elements(node: ast.AST) -> Sequence[ast.expr]:
    if isinstance(node, ast.Call):
        return node.args
    return node.elts if isinstance(node, (ast.Tuple, ast.List)) else []


def _shapes(elements: Sequence[ast.expr], definitions: Definitions) -> Iterator[tuple[int, int, int]]:
    if len(elements) not in (3, 4):
        return
    with suppress(ValueError):
        match [definitions.literal(one) for one in elements[-3:]]:
            case [int() as channels, int() as height, int() as width]:
                if channels in _CHANNELS and min(height, width) >= _LEAST_SIDE:
                    yield channels, height, width
