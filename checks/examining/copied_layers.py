"""Layers of which a model holds copies, as nn.TransformerEncoder copies the layer that it is given."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import takewhile

from ...submissions.questions.inventory import Inventory, ModelTensor


def patterns(inventory: Inventory, unused: Collection[str]) -> set[str]:
    """Those ``unused`` parameters of which the model uses a copy, made where the copies stand alone.

    They are no layers that were forgotten, though no gradient reaches them. A block of the same list that is
    left out is forgotten, whatever its numbers are.
    """
    held = {one.name: one for one in inventory.tensors}
    used: dict[str, list[str]] = {}
    for one in held.values():
        if one.name not in unused:
            used.setdefault(one.digest, []).append(one.name)
    first = (held[name] for name in unused if name in held and not held[name].constant)
    roots = {pair for one in first for copy in used.get(one.digest, ()) for pair in _roots(one.name, copy)}
    return {name for name in unused if any(_is_copied(name, roots_, held, unused) for roots_ in roots)}


def _roots(name: str, copy: str) -> Iterator[tuple[str, str]]:
    """The paths of two modules in which the two have the same path."""
    parts, others = name.split("."), copy.split(".")
    alike = len([*takewhile(lambda pair: pair[0] == pair[1], zip(parts[::-1], others[::-1]))])
    root, other = parts[: len(parts) - alike], others[: len(others) - alike]
    if root and other and root[:-1] != other[:-1]:
        yield ".".join(root), ".".join(other)


def _is_copied(
    name: str, roots: tuple[str, str], held: Mapping[str, ModelTensor], unused: Collection[str]
) -> bool:
    root, other = roots
    copy = held.get(other + name.removeprefix(root))
    is_inside = name.startswith(f"{root}.") and copy is not None and copy.name not in unused
    return is_inside and name in held and copy is not None and copy.digest == held[name].digest
