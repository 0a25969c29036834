"""Layers of which a model holds copies, as nn.TransformerEncoder copies the layer that it is given."""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate, takewhile

from ...submissions.questions.inventory import Inventory

_LOOKED_AT = 64  # parameters with the same numbers: a model has as many copies as blocks


def patterns(inventory: Inventory, unused: Collection[str]) -> set[str]:
    """Those ``unused`` parameters of which the model uses a copy that stands elsewhere.

    They are no layers that were forgotten, though no gradient reaches them. A block of the same list that is
    left out is forgotten, whatever its numbers are.
    """
    held = {one.name: one for one in inventory.tensors}
    used: dict[str, list[str]] = {}
    for one in inventory.tensors:
        if one.name not in unused and len(same := used.setdefault(one.digest, [])) < _LOOKED_AT:
            same.append(one.name)
    copies: dict[str, str] = {}  # paths of modules, and of a copy of each
    for one in (held[name] for name in unused if name in held and not held[name].constant):
        for name in used.get(one.digest, ()):
            copies |= _modules(one.name, name)

    def is_copied(name: str) -> bool:
        paths = [path for path in accumulate(name.split("."), "{}.{}".format) if path in copies]
        others = (held.get(copies[path] + name.removeprefix(path)) for path in paths)
        return any(one and one.name not in unused and one.digest == held[name].digest for one in others)

    return {name for name in unused if name in held and is_copied(name)}


def _modules(name: str, copy: str) -> dict[str, str]:
    """The modules in which the two parameters have the same path; none where they stand side by side."""
    parts, others = name.split("."), copy.split(".")
    alike = len([*takewhile(lambda pair: pair[0] == pair[1], zip(parts[::-1], others[::-1]))])
    path, other = parts[: len(parts) - alike], others[: len(others) - alike]
    return {".".join(path): ".".join(other)} if path and other and path[:-1] != other[:-1] else {}
