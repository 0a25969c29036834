"""Which of the student's parameters may be which of the reference's: by shape, order of use and name.

Nothing here is believed: the scores that follow decide (``whole``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ....submissions.host.trace import Trace

_OF_BLOCK = re.compile(r"^(?P<before>.*?)(?<!\d)(?P<number>\d+)\.(?P<inside>.+)$")
_QKV = tuple(re.compile(rf"(^|[._])(to_?|w_?|fc_?)?{one}") for one in ("q", "k", "v"))

State = dict[str, Tensor]  # of the reference, by its own names
Numbers = Mapping[str, Tensor]  # the student's, by registered name


def numbers_of(trace: Trace) -> dict[str, Tensor]:
    """Every registered tensor of floating point that the pass read, in order of use."""
    found = [one for one in trace.leaves if one.name and "float" in one.dtype and one.cells is not None]
    return {one.name: trace.tensor(one.reference) for one in found}


@dataclass
class _Group:
    """Tensors of one module: matrices and vectors by name."""

    matrices: list[str] = field(default_factory=list)
    vectors: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Binding:
    """Names of the student's: each map is a matrix and its bias, each norm a scale and a shift."""

    outside: Mapping[str, tuple[str, ...]]  # patches, class token, positions, head
    norms_outside: tuple[tuple[str, ...], ...]
    blocks: tuple[
        tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]], ...
    ]  # norms and maps of each

    @property
    def key_biases(self) -> set[str]:
        """Biases of separate projections: no gradient reaches the keys'."""
        return {name for _, maps in self.blocks if len(maps) == 6 for map_ in maps[:3] for name in map_[1:]}


def bindings(numbers: Numbers, sizes: ModelSizes) -> Iterator[Binding]:
    """The likeliest first: query, key and value in order of use, then by their names."""
    outside, blocks = _apart(numbers, sizes.depth)
    rest = _outside(outside, numbers, sizes)
    inside = [_inside(block, numbers, sizes) for block in blocks]
    if rest is None or len(inside) != sizes.depth or any(one is None for one in inside):
        return
    found, norms = rest
    plain = tuple(one for one in inside if one is not None)
    yield Binding(found, norms, plain)
    named = tuple((norms_, _by_name(maps)) for norms_, maps in plain)
    if named != plain:
        yield Binding(found, norms, named)


def _apart(numbers: Numbers, depth: int) -> tuple[list[str], list[list[str]]]:
    """What belongs to no block, and what belongs to each."""
    rows: dict[str, dict[int, list[str]]] = {}
    for name in numbers:
        match = _OF_BLOCK.match(name)
        if match:
            rows.setdefault(match["before"], {}).setdefault(int(match["number"]), []).append(name)
    fitting = [one for one in rows.values() if sorted(one) == list(range(depth))]
    blocks = max(fitting, key=lambda one: sum(map(len, one.values())), default={})
    inside = {name for names in blocks.values() for name in names}
    return [name for name in numbers if name not in inside], [blocks[number] for number in sorted(blocks)]


def _grouped(names: list[str], numbers: Numbers) -> list[_Group]:
    """By module, in order of use."""
    groups: dict[str, _Group] = {}
    for name in names:
        group = groups.setdefault(name.rpartition(".")[0] or name, _Group())
        (group.vectors if numbers[name].dim() == 1 else group.matrices).append(name)
    return list(groups.values())


def _outside(
    names: list[str], numbers: Numbers, sizes: ModelSizes
) -> tuple[dict[str, tuple[str, ...]], tuple[tuple[str, ...], ...]] | None:
    """The patches' map is used first and the head last; sizes alone may be the same."""
    D, T, F, K = sizes.embed_dim, sizes.tokens, sizes.axes["F"], sizes.classes
    groups = _grouped(names, numbers)
    norms = tuple(tuple(one.vectors) for one in groups if not one.matrices and len(one.vectors) == 2)
    rest = [(name, *one.vectors) for one in groups for name in one.matrices]
    lone = [tuple(one.vectors) for one in groups if not one.matrices and len(one.vectors) == 1]
    found: dict[str, tuple[str, ...]] = {}
    for role, size, rows in (
        ("patches", D * F, rest),
        ("head", D * K, rest[::-1]),
        ("class token", D, [*rest, *lone]),
        ("positions", T * D, rest),
    ):
        fitting = [one for one in rows if numbers[one[0]].numel() == size and one not in found.values()]
        if not fitting:
            return None
        found[role] = fitting[0]
    return found, norms


_Inside = tuple[tuple[tuple[str, ...], ...], tuple[tuple[str, ...], ...]]


def _inside(names: list[str], numbers: Numbers, sizes: ModelSizes) -> _Inside | None:
    """Norms, and maps with the MLP's two last, the output's before them."""
    D, M = sizes.embed_dim, sizes.mlp_dim
    groups = _grouped(names, numbers)
    norms = tuple(tuple(one.vectors) for one in groups if not one.matrices and len(one.vectors) == 2)
    maps = [(matrix, *one.vectors) for one in groups for matrix in one.matrices]
    attention = [one for one in maps[:-2] if numbers[one[0]].numel() in (D * D, 3 * D * D)]
    mlp = [one for one in maps[-2:] if numbers[one[0]].numel() == D * M]
    if len(norms) not in (2, 3) or len(attention) not in (2, 4) or len(mlp) != 2:
        return None
    return norms, (*attention, *mlp)


def _by_name(maps: tuple[tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    """Query, key and value where their names say so."""
    four, mlp = maps[:-2], maps[-2:]
    found = [[one for one in four if sign.search(one[0].rpartition(".")[0] or one[0])] for sign in _QKV]
    if len(four) != 4 or any(len(one) != 1 for one in found):
        return maps
    chosen = [one[0] for one in found]
    others = [one for one in four if one not in chosen]
    return (*chosen, *others, *mlp) if len(others) == 1 else maps


def _matrix(tensor: Tensor, outputs: int) -> Tensor:
    """As (outputs, inputs)."""
    flat = tensor.reshape(tensor.shape[0], -1)
    return flat if flat.shape[0] == outputs else flat.mT


def _map(state: State, to: str, names: tuple[str, ...], numbers: Numbers, outputs: int) -> None:
    state[f"{to}.weight"] = _matrix(numbers[names[0]], outputs)
    if len(names) > 1:
        state[f"{to}.bias"] = numbers[names[1]]


def state_of(
    binding: Binding, numbers: Numbers, sizes: ModelSizes, packed: Callable[[Tensor], Tensor]
) -> State:
    """The reference's parameters, without missing biases; ``packed`` orders what is packed in one map."""
    D = sizes.embed_dim
    state: State = {
        "cls_token": numbers[binding.outside["class token"][0]].reshape(D),
        "pos_embed": numbers[binding.outside["positions"][0]].reshape(-1, D),
    }
    _map(state, "patch_embed", binding.outside["patches"], numbers, D)
    _map(state, "head", binding.outside["head"], numbers, sizes.classes)
    for name, norm in zip(("norm_pre", "norm")[-len(binding.norms_outside) :], binding.norms_outside):
        state[f"{name}.weight"], state[f"{name}.bias"] = (numbers[one] for one in norm)
    for number, (norms, maps) in enumerate(binding.blocks):
        at = f"blocks.{number}"
        for name, norm in zip(("norm1", "norm2", "norm3"), norms):
            state[f"{at}.{name}.weight"], state[f"{at}.{name}.bias"] = (numbers[one] for one in norm)
        _attention(state, f"{at}.attn", maps[:-2], numbers, sizes, packed)
        _map(state, f"{at}.mlp.fc1", maps[-2], numbers, sizes.mlp_dim)
        _map(state, f"{at}.mlp.fc2", maps[-1], numbers, D)
    return state


def _attention(
    state: State,
    at: str,
    maps: tuple[tuple[str, ...], ...],
    numbers: Numbers,
    sizes: ModelSizes,
    packed: Callable[[Tensor], Tensor],
) -> None:
    D = sizes.embed_dim
    *into, out = maps
    weights = [_matrix(numbers[one[0]], 3 * D if len(into) == 1 else D) for one in into]
    biases = [numbers[one[1]] for one in into if len(one) > 1]
    state[f"{at}.qkv.weight"] = packed(torch.cat(weights)) if len(into) == 1 else torch.cat(weights)
    if len(biases) == len(into):
        joined = torch.cat(biases)
        state[f"{at}.qkv.bias"] = packed(joined) if len(into) == 1 else joined
    _map(state, f"{at}.proj", out, numbers, D)
