"""Changed images and parameters, for properties that compare two passes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ....reference.equations import merge_heads
from ....reference.model_sizes import ModelSizes
from ....submissions.host.trace import Use
from ...locating.comparing import equal
from ...locating.context import Context
from ...locating.search.parameter_search import LinearMap, Norm
from ...locating.wiring.cutting import unpack
from ..verdicts import NotApplicable, NotReached
from .example import Example

_LARGE = 100.0  # queries and keys that are as much larger give scores 10⁴ times larger


def permuted_patches(image: Tensor, sizes: ModelSizes, order: Tensor) -> Tensor:
    """The image whose patch ``n`` is patch ``order[n]`` of ``image``."""
    rows, columns = sizes.grid
    B, C, P = sizes.batch, sizes.channels, sizes.patch
    cut = image.reshape(B, C, rows, P, columns, P).permute(0, 2, 4, 1, 3, 5).flatten(1, 2)
    back = cut[:, order].reshape(B, rows, columns, C, P, P)
    return back.permute(0, 3, 1, 4, 2, 5).reshape(image.shape).contiguous()


def permuted_positions(table: Tensor, sizes: ModelSizes, order: Tensor, class_row: int) -> Tensor:
    """The table of positions, of which one axis is that of tokens, with its patches in that order.

    The class token keeps its row, the first or the last.
    """
    own = torch.tensor([class_row % sizes.tokens])
    rows = torch.cat([order, own] if class_row else [own, 1 + order])
    return table.index_select(table.shape.index(sizes.tokens), rows)


class Edit:
    """Parameters of one example to be set to other values, through the windows by which they are used."""

    def __init__(self, example: Example) -> None:
        self._example = example
        self._copies: dict[int, Tensor] = {}

    def window(self, use: Use) -> Tensor:
        """A writable view of a parameter as it was consumed; raises NotApplicable where it is none."""
        trace = self._example.trace
        reference = trace.used(use)
        if reference.kind != "leaf" or trace.value(reference).kind != "parameter":
            raise NotApplicable("a weight is not used as it is registered, so it cannot be set from outside")
        if reference.number not in self._copies:
            self._copies[reference.number] = trace.value(reference).cells.clone()
        copy = self._copies[reference.number]
        return torch.as_strided(copy, reference.shape, reference.strides, reference.offset)

    @property
    def fixed(self) -> dict[str, Tensor]:
        """New values by parameter name."""
        leaves = self._example.trace.leaves
        return {
            leaves[number].name: torch.as_strided(
                cells, leaves[number].shape, leaves[number].reference.strides, leaves[number].reference.offset
            ).contiguous()
            for number, cells in self._copies.items()
        }


def without_branches(example: Example, ends: Sequence[str] = ("out", "fc2")) -> dict[str, Tensor]:
    """Zero weights and biases where attention ("out") and MLP ("fc2") of each block end."""
    edit = Edit(example)
    for block in range(1, example.walk.blocks + 1):
        for role in ends:
            map_ = example.walk.roles.get(f"block{block}.{role}")
            if not isinstance(map_, LinearMap):
                raise NotApplicable("the block has no output weights that could be set to zero")
            for use in (map_.weight, map_.bias):
                if use is not None:
                    edit.window(use).zero_()
    return edit.fixed


def scaled_scores(example: Example) -> dict[str, Tensor]:
    """Weights of query, key and value in block 1 so large that scores are in the thousands."""
    edit = Edit(example)
    maps = [map_ for role, map_ in example.walk.roles.items() if role.startswith("block1.projection")]
    if not maps:
        if example.walk.bound is not None:
            raise NotApplicable("the projections are known from the attention scores alone")
        raise NotReached("the projections were not found")
    windows = [edit.window(map_.weight) for map_ in maps if isinstance(map_, LinearMap)]
    for window in windows:
        window.mul_(_LARGE)
    return edit.fixed


def permuted_heads(example: Example) -> tuple[dict[str, Tensor], Tensor]:
    """Weights of block 1 with its heads rolled by one, and the order that the heads then have."""
    walk, edit = example.walk, Edit(example)
    order = torch.arange(walk.heads).roll(1)
    context = Context(
        example.trace,
        example.draw.sizes,
        {(one.step.key, one.step.block): one.student for one in example.seen},
    )
    for key in ("block_input", "query", "attention_context", "attention_output"):
        if (key, 1) not in context.stages:
            raise NotReached(f"{key.replace('_', ' ')} was not found")
    for map_, packing, roles in _input_maps(example, context):
        rows = unpack(torch.arange(_outputs(context, map_)).reshape(1, 1, -1), packing, roles, walk.heads)
        _permute(edit, map_, rows.flatten(), rows[:, :, order].flatten())
    _permute_output(edit, example, context, order)
    return edit.fixed, order


def _outputs(context: Context, map_: LinearMap) -> int:
    return context.use(map_.weight).numel() // context.stage("block_input", 1).shape[-1]


def _input_maps(example: Example, context: Context) -> list[tuple[LinearMap, str, int]]:
    """The maps behind query, key and value with their packing, where the plain ones explain the query."""
    walk = example.walk
    maps = [walk.roles.get(f"block1.projection{number}") for number in range(3)]
    linears = [one for one in maps if isinstance(one, LinearMap)]
    packing, roles = (walk.packing, 3) if len(linears) == 1 else ("rhd", 1)
    norm = walk.roles.get("block1.norm1")
    x = context.stage("block_input", 1)
    normed = norm(context, x) if isinstance(norm, Norm) else x
    if walk.packing == "per head" or len(linears) not in (1, 3) or set(packing) != set("rhd"):
        raise NotApplicable("query, key and value come from other layers than one or three")
    first = unpack(linears[0](context, normed), packing, roles, walk.heads)[0]
    query = context.stage("query", 1)
    if not equal(first, query):
        raise NotApplicable("the heads are not in one of the usual orders")
    return [(one, packing, roles) for one in linears]


def _permute(edit: Edit, map_: LinearMap, rows: Tensor, sources: Tensor) -> None:
    """Gives row ``rows[i]`` of a map the values of row ``sources[i]``."""
    window = edit.window(map_.weight)
    if window.dim() != 2:
        raise NotApplicable("a weight has other axes than inputs and outputs")
    matrix = window if map_.form == "out-in" else window.mT
    matrix[rows] = matrix[sources].clone()
    if map_.bias is not None:
        bias = edit.window(map_.bias).view(-1)
        bias[rows] = bias[sources].clone()


def _permute_output(edit: Edit, example: Example, context: Context, order: Tensor) -> None:
    out = example.walk.roles.get("block1.out")
    merged = merge_heads(context.stage("attention_context", 1))
    if not isinstance(out, LinearMap):
        raise NotApplicable("there is no output projection")
    output = context.stage("attention_output", 1)
    fits = context.use(out.weight).numel() == merged.shape[-1] * output.shape[-1]
    if not fits or not equal(out(context, merged), output):
        raise NotApplicable("the heads are not concatenated in the usual order")
    window = edit.window(out.weight)
    if window.dim() != 2:
        raise NotApplicable("a weight has other axes than inputs and outputs")
    matrix = window if out.form == "out-in" else window.mT
    columns = torch.arange(matrix.shape[1]).reshape(len(order), -1)
    matrix[:, columns.flatten()] = matrix[:, columns[order].flatten()].clone()
