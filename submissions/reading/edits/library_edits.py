"""What calls of torch leave out or are given too much of, and one layer in all places of a list."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from ..code_scopes import called
from .edit import Edit
from .function_text import FunctionText

_LEFT_OUT: Mapping[str, Sequence[str]] = {  # arguments without which something else is computed
    "MultiheadAttention": ("batch_first=True",),
    "TransformerEncoderLayer": ("batch_first=True", "norm_first=True"),
    "Softmax": ("dim=-1",),
    "var": ("unbiased=False",),
    "std": ("unbiased=False",),
    "var_mean": ("unbiased=False",),
}
_OVER_AXES = ("mean", "sum", "var", "std", "LayerNorm")
_OF_AXES = ("permute", "reshape", "view")
_CONVOLUTION, _KERNEL = "Conv2d", 2  # the place of its kernel among the arguments


def of_library(here: FunctionText, node: ast.Call) -> Iterator[Edit]:
    """With an argument that was left out, or with less of one that is several."""
    name = called(node)
    given = {one.arg for one in node.keywords}
    for argument in (*_LEFT_OUT.get(name, ()), *_stride(here, node)):
        if argument.partition("=")[0] not in given:
            yield here.edit("option", node, here.with_argument(node, argument))
    if name == "Sequential":
        yield from _with_one_less(here, node)


def _stride(here: FunctionText, node: ast.Call) -> Iterator[str]:
    """As large as the kernel, which cuts an image into patches."""
    if called(node) == _CONVOLUTION and len(node.args) <= _KERNEL + 1:
        kernels = (*node.args[_KERNEL:], *(one.value for one in node.keywords if one.arg == "kernel_size"))
        yield from (f"stride={here.text(one)}" for one in kernels)


def _with_one_less(here: FunctionText, node: ast.Call) -> Iterator[Edit]:
    layers = list(_layers(node))
    calls = (one for one in reversed(layers) if isinstance(one, ast.Call))
    yield from (here.edit("extra", one, "nn.Identity()") for one in calls if len(layers) > 1)


def _layers(sequence: ast.Call) -> Iterator[ast.expr]:
    """Of a sequence, also where they are handed over in a list, or in one of pairs with their names."""
    for given in sequence.args:
        match given:
            case ast.Starred(value=ast.List(elts=layers)):
                yield from layers
            case ast.Call(args=[ast.List(elts=named)]):
                yield from (one.elts[-1] for one in named if isinstance(one, ast.Tuple))
            case _:
                yield given


def of_several(here: FunctionText, node: ast.Tuple | ast.List) -> Iterator[Edit]:
    """One axis, or the size of one, in the place of several; or two of them exchanged."""
    parent = here.parent(node)
    name = called(here.parent(parent) if isinstance(parent, ast.keyword) else parent)
    if name in _OVER_AXES and len(node.elts) > 1:
        yield from (here.edit("number", node, here.text(one)) for one in reversed(node.elts))
    elif name in _OF_AXES:
        yield from here.reordered(node.elts)


def of_flag(here: FunctionText, node: ast.Constant) -> Iterator[Edit]:
    if isinstance(node.value, bool) and isinstance(here.parent(node), ast.keyword):
        yield here.edit("option", node, str(not node.value))


def of_repeated(here: FunctionText, node: ast.BinOp | ast.ListComp) -> Iterator[Edit]:
    """Another layer in each place of a list, where one stands in all of them."""
    match node:
        case ast.BinOp(op=ast.Mult(), left=ast.List(elts=[one]), right=count):
            yield here.edit("repeated", node, f"[{_anew(here, one)} for _ in range({here.text(count)})]")
        case ast.ListComp(elt=ast.Name() as one, generators=[ast.comprehension(target=ast.Name() as target)]):
            if one.id != target.id:
                yield here.edit("repeated", one, _anew(here, one))


def _anew(here: FunctionText, one: ast.expr) -> str:
    text = here.text(one)
    return text if isinstance(one, ast.Call) else f'__import__("copy").deepcopy({text})'
