"""What a built model shows of its sizes: its layers' shapes, and what it returns."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import isqrt

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from ....questions.randomise import held_by
from .block_lists import depth_of
from .parameter_names import meanings

_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.MultiheadAttention)


def tensors(output: object) -> Iterator[Tensor]:
    """Yield every tensor in what a model returned: in tuples, lists, mappings, dataclasses, also nested."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, Mapping):
        for one in output.values():
            yield from tensors(one)
    elif isinstance(output, (tuple, list)):
        for one in output:
            yield from tensors(one)
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        yield from tensors(vars(output))


def stacked(results: Iterable[object]) -> Tensor:
    """In a batch, what came out for one image after the other: of each the first tensor."""
    return torch.stack([next(tensors(one)) for one in results])


def is_lazily_made(model: nn.Module) -> bool:
    """Has it layers that only the first pass makes, as wide as what they see there?"""
    return any(map(is_lazy, chain(model.parameters(), model.buffers())))


@dataclasses.dataclass(frozen=True)
class ModelParts:
    """What a model is made of, also what it does not know of itself; each once."""

    model: nn.Module
    modules: list[nn.Module]
    parameters: list[Tensor]

    @classmethod
    def of(cls, model: nn.Module) -> ModelParts:
        modules, tensors = held_by(model)
        found = {id(one): one for _, one in tensors if isinstance(one, nn.Parameter) and not is_lazy(one)}
        return cls(model, [module for _, module in modules], list(found.values()))


def observe(parts: ModelParts) -> dict[str, int]:
    """Read the fields of ``Sizes`` off the model's layers and attributes, as far as they can be told."""
    width = _embed_dim(parts)
    found = {
        "embed_dim": width,
        "mlp_dim": mlp_dim(parts, width),
        "depth": depth_of(parts.modules, width),
        "heads": heads_of(parts),
        "classes": _classes(parts),
        **_patch_and_image(parts, width),
    }
    return {field: value for field, value in found.items() if value}


def norms_one_number(parts: ModelParts) -> bool:
    """Is something else taken for the width of a token, so that there is nothing to norm?"""
    return any(isinstance(one, nn.LayerNorm) and one.normalized_shape == (1,) for one in parts.modules)


def _embed_dim(parts: ModelParts) -> int:
    norms = [one.normalized_shape[-1] for one in parts.modules if isinstance(one, nn.LayerNorm)]
    mapped = [size for one in parts.parameters if one.dim() > 1 for size in one.shape if size > 1]
    by_hand = [size for one in parts.modules for size in _scaled(one)]
    vectors = [one.numel() for one in parts.parameters if one.dim() == 1]  # biases
    found = ([one for one in sizes if one in mapped] for sizes in (norms, by_hand, vectors))  # of no head
    sizes = next(filter(None, found), norms or mapped)
    # patches may be normed before they are mapped, too
    return max(dict.fromkeys(sizes), key=lambda one: (sizes.count(one), mapped.count(one)), default=0)


def _scaled(module: nn.Module) -> list[int]:
    """The sizes of the vectors of a module that has nothing else of its own, as a norm by hand does."""
    own = list(module.parameters(recurse=False))
    return [one.numel() for one in own] if all(one.dim() == 1 for one in own) else []


def mlp_dim(parts: ModelParts, width: int) -> int:
    """Return the width M with the most maps D → M and back; 0 where no other width than D is there.

    A convolution of one token at a time is such a map too. Flattened patches may be as wide, and so may
    query, key and value together. Where these have a width of their own, fewer maps lead back.
    """
    sizes = [tuple(size for size in one.shape if size > 1) for one in parts.parameters]
    maps = [shape for shape in sizes if len(shape) == 2]
    stacked = (shape[1:] for shape in sizes if len(shape) == 3)  # of all blocks, one under the other
    return _there_and_back(maps, width) or _kept_alike(maps, width) or _there_and_back(stacked, width)


def _there_and_back(maps: Iterable[tuple[int, ...]], width: int) -> int:
    shapes = Counter(maps)
    there = {out: count for (out, into), count in shapes.items() if into == width != out}
    back = {size: shapes[width, size] for size in there if shapes[width, size]}

    def rank(size: int) -> tuple[bool, int, int, int]:
        return there[size] == back[size], min(there[size], back[size]), -there[size], size

    return max(back, key=rank, default=0)


def _kept_alike(maps: Iterable[tuple[int, ...]], width: int) -> int:
    """Who multiplies by letters of axes may keep both maps of the MLP the same way round.

    What is three times as wide, beside maps from D to D, makes queries, keys and values.
    """
    shapes = Counter(one for one in maps if width in one)
    twice = {sum(one) - width for one, count in shapes.items() if count % 2 == 0}
    packed = {3 * width} if (width, width) in shapes else set()
    return max((size for size in twice - packed if size > width), default=0)


def heads_of(parts: ModelParts) -> int:
    """Return how many heads its layers keep as an attribute; 0 where none does."""
    kept = Counter(_attribute(one, "heads") for one in parts.modules)
    del kept[0]
    return kept.most_common(1)[0][0] if kept else 0


def _classes(parts: ModelParts) -> int:
    layers = [one for one in parts.modules if isinstance(one, nn.Linear)]
    return layers[-1].out_features if layers else 0


def _patch_and_image(parts: ModelParts, width: int) -> dict[str, int]:
    convolutions = [one for one in parts.modules if isinstance(one, nn.Conv2d) and not _is_linear(one)]
    found = {"channels": convolutions[0].in_channels} if convolutions else {}
    patch = _stride(convolutions, width)
    found |= {} if patch else _kernel(parts, width)
    patch = patch or found.get("patch") or flattened_patch(parts, width).get("patch", 0)
    patch = patch or _attribute(parts.model, "patch")
    rows = _rows_of_tables(parts, width)
    counts = (count for one in rows for count in (one - 1, one))  # with a class token, and without one
    side = next((isqrt(one) for one in counts if one > 0 and isqrt(one) ** 2 == one), 0)
    return {**found, "patch": patch, "height": side * patch, "width": side * patch}


def _stride(convolutions: Sequence[nn.Conv2d], width: int) -> int:
    """How many pixels lie between two tokens, where a convolution cuts patches, or several in a row do."""
    stride = 1
    for one in (each for each in convolutions if _cuts(each)):
        stride *= int(one.stride[0])
        if one.out_channels == width:
            return stride
    return next((int(one.kernel_size[0]) for one in convolutions if _cuts(one)), 0)


def _kernel(parts: ModelParts, width: int) -> dict[str, int]:
    """Channels and P of a parameter that has these as axes, (C, P, P, D) or (D, C, P, P); else nothing."""
    for one in parts.parameters:
        shape = tuple(one.shape)
        if len(shape) == 4 and width in (shape[0], shape[-1]) and shape[0] > 1:  # of one it is positions
            channels, *sides = shape[1:] if shape[0] == width else shape[:-1]
            if sides[0] == sides[1] > channels:
                return {"channels": channels, "patch": sides[0]}
    return {}


def embedded_width(parts: ModelParts) -> int:
    """Return how many numbers a convolution makes of a patch; 0 where none cuts the image into patches."""
    return next((one.out_channels for one in parts.modules if isinstance(one, nn.Conv2d) and _cuts(one)), 0)


def _cuts(convolution: nn.Conv2d) -> bool:
    return convolution.kernel_size == convolution.stride and not _is_linear(convolution)


def _is_linear(convolution: nn.Conv1d | nn.Conv2d) -> bool:
    """Does it map each pixel, or each patch of a row or a map of them, by itself?"""
    return set(convolution.kernel_size) == {1}


def flattened_patch(parts: ModelParts, width: int) -> dict[str, int]:
    """Channels and P where the first layer that gives tokens reads 3 · P² numbers or P²; else nothing."""
    first = [inputs for inputs, outputs in _linear_maps(parts) if outputs == width][:1]
    # one that reads what an MLP has inside is of a block: then no layer maps the patches
    others = [*_maps_to(parts, width)] if first in ([], [mlp_dim(parts, width)]) else []
    every = (pair for read in (first, others) for pair in product((3, 1), read))
    ways = ((count, isqrt(count // channels), channels) for channels, count in every)
    return next(
        (
            {"channels": channels, "patch": side}
            for count, side, channels in ways
            if count == channels * side**2 > channels
        ),
        {},
    )


def _linear_maps(parts: ModelParts) -> Iterator[tuple[int, int]]:
    """How many numbers each layer reads, and how many it gives."""
    for one in parts.modules:
        if isinstance(one, nn.Linear):
            yield one.in_features, one.out_features
        elif isinstance(one, (nn.Conv1d, nn.Conv2d)) and _is_linear(one):
            yield one.in_channels, one.out_channels


def _maps_to(parts: ModelParts, width: int) -> Iterator[int]:
    """How many numbers each matrix reads that gives so many; those of MLPs may give them back."""
    for one in parts.parameters:
        if one.dim() == 2 and width in one.shape:
            inputs = one.shape[0] if one.shape[1] == width else one.shape[1]
            if inputs != mlp_dim(parts, width):
                yield inputs


def _rows_of_tables(parts: ModelParts, width: int) -> Iterator[int]:
    """Yield the rows of all tables of tokens, as rows or feature by feature.

    Weights of layers are none, and of more axes it is a table of rows or columns of patches.
    """
    for module in parts.modules:
        held = chain(module.parameters(recurse=False), module.buffers(recurse=False))
        tables = [one for one in held if not (isinstance(module, _LAYERS) or is_lazy(one) or one.dim() > 3)]
        grid = _grid(tables, width)
        yield from [grid] if grid else (rows for one in tables for rows in _rows(one, width))


def _rows(table: Tensor, width: int) -> Iterator[int]:
    sizes = [size for size in table.shape if size > 1]
    if len(sizes) == 2 and sizes[-1] == width:
        yield sizes[0]
    elif len(sizes) == 2 < table.dim() and sizes[0] == width:
        yield sizes[1]


def _grid(tables: Iterable[Tensor], width: int) -> int:
    """How many patches a table of rows, (G, 1, D), and one of columns, (1, G, D), have together; or 0."""
    shapes = [tuple(one.shape) for one in tables]
    sides = (shape[0] for shape in shapes if shape[1:] == (1, width) and shape[0] > 1)
    return next((side**2 for side in sides if (1, side, width) in shapes), 0)


def _attribute(module: nn.Module, meaning: str) -> int:
    """Return the whole number that the module keeps under a name of this meaning, and of no other."""
    for name, one in vars(module).items():
        if type(one) is int and meanings(name) == (meaning,):
            return one
    return 0
