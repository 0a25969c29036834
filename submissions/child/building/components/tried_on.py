"""Child side: what a file tries its own functions on."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from torch import Tensor

from ....reading.code_scopes import called
from ...loading.definitions import Definitions
from ...loading.drawn_scripts import ran_as_script
from ...loading.execution import Loaded

_OF_TOKENS = 2  # axes, where there is none for several images
_CHANNELS = (1, 3)
_DRAWS = ("rand", "randn")


def is_of_one_image(loaded: Loaded, definitions: Definitions) -> bool:
    """Are they called with the tokens of one image, or itself, and with those of several nowhere?

    Classes take batches.
    """
    if any(one.is_class for one in definitions.all.values()):
        return False
    shapes = [*_shapes_given(loaded, definitions)]
    of_tokens = [len(one) == _OF_TOKENS for one in shapes]
    return any(of_tokens) and all(
        is_of_tokens or _is_image(one) for is_of_tokens, one in zip(of_tokens, shapes)
    )


def _is_image(shape: Sequence[int]) -> bool:
    return len(shape) == 3 and shape[0] in _CHANNELS and shape[1] == shape[2]


def _shapes_given(loaded: Loaded, definitions: Definitions) -> Iterator[Sequence[int]]:
    """Of the first arguments in calls at the top level, as far as they are known."""
    for file, statements in loaded.program.statements.items():
        nodes = (node for one in statements if not one.defines for node in ast.walk(one.node))
        calls = (one for one in nodes if isinstance(one, ast.Call) and one.args)
        own = [one for one in calls if called(one) in definitions.all]
        if own and file in (ran := ran_as_script(loaded.program, file).modules):
            names = vars(ran[file])
            yield from (shape for one in own for shape in _shapes(one.args[0], names))


def _shapes(given: ast.expr, names: dict[str, object]) -> Iterator[Sequence[int]]:
    tensor = names.get(given.id) if isinstance(given, ast.Name) else None
    if isinstance(tensor, Tensor) and tensor.is_floating_point():
        yield tensor.shape
    elif isinstance(given, ast.Call) and called(given) in _DRAWS:
        sizes = (one.value if isinstance(one, ast.Constant) else 0 for one in given.args)
        yield [one if isinstance(one, int) else 0 for one in sizes]
