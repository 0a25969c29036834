"""What a student would not leave in: names given twice, sizes that nobody reads, imports that nobody uses."""

from __future__ import annotations

import re
from collections.abc import Iterable

_UNPACKED = re.compile(r"( *)(\w+(?:, \w+)+) = (\w+)\.(?:shape|size\(\))")
_NAMED = re.compile(r"( *)(\w+) = (.*)")
_FUNCTIONAL = {
    "import torch.nn as nn": "from torch import nn",
    "import torch.nn.functional as F": "from torch.nn import functional as F",
}


def used(name: str, lines: Iterable[str]) -> bool:
    """Does the name stand in one of the lines?"""
    return any(re.search(rf"\b{re.escape(name)}\b", line) for line in lines)


def body(does: list[str], result: str, underscored: bool) -> list[str]:
    """The lines of a forward, without names for a value that has one and without shapes that nobody reads."""
    lines = [part for line in does for part in line.split("\n")]
    lines = _without_renames(lines, result)
    return [
        line
        for index, old in enumerate(lines)
        if (line := _unpacked(old, [*lines[:index], *lines[index + 1 :], result], underscored)) is not None
    ]


def _without_renames(lines: list[str], result: str) -> list[str]:
    """``a = f(x)`` and ``b = a`` are ``b = f(x)``, where a is not read again."""
    index = 0
    while index + 1 < len(lines):
        made, renamed = _NAMED.fullmatch(lines[index]), _NAMED.fullmatch(lines[index + 1])
        others = [*(lines[:index] if made and made[1] else []), *lines[index + 2 :], result]
        if made and renamed and made[1] == renamed[1] and made[2] == renamed[3] and not used(made[2], others):
            lines = [*lines[:index], f"{made[1]}{renamed[2]} = {made[3]}", *lines[index + 2 :]]
        else:
            index += 1
    return lines


def _unpacked(line: str, others: list[str], underscored: bool) -> str | None:
    found = _UNPACKED.fullmatch(line)
    if not found:
        return line
    names = found[2].split(", ")
    read = [name for name in names if used(name, others)]
    if not read:
        return None
    if read == names[:1]:
        return f"{found[1]}{names[0]} = {found[3]}.shape[0]"
    said = [name if name in read or not underscored else "_" for name in names]
    return line.replace(found[2], ", ".join(said), 1)


def stored(makes: list[str], does: list[str], attributes: Iterable[str]) -> list[str]:
    """The lines of a constructor, without the attributes of these that nobody reads."""
    for attribute in reversed(list(attributes)):
        others = [line for line in makes if not line.startswith(f"{attribute} = ")]
        if len(others) < len(makes) and not used(attribute.removeprefix("self."), [*others, *does]):
            makes = others
    return makes


def imports(lines: Iterable[str], text: str, order: str, of_torch: bool = False) -> str:
    """The imports that a text uses, one a line: ``sorted``, or torch's ``first``."""
    read = [line for line in lines if used(line.split()[-1], [text])]
    read = _joined([_FUNCTIONAL.get(line, line) if of_torch else line for line in read])
    first = "torch" if order == "first" else ""
    return "\n".join(
        sorted(read, key=lambda line: (not line.split()[1].startswith(first), *_place(line, order)))
    )


def _place(line: str, order: str) -> tuple[bool, str]:
    return (order == "sorted" and line.startswith("from"), line)


def _joined(lines: list[str]) -> list[str]:
    """What is imported from one module stands in one line."""
    found: dict[str, list[str]] = {}
    for line in lines:
        head, names = re.fullmatch(r"(from \S+ import )?(.*)", line).groups()  # type: ignore[union-attr]  # matches always
        found.setdefault(head or line, []).append(names)
    return [
        f"{head}{', '.join(sorted(names))}" if head.startswith("from") else head
        for head, names in found.items()
    ]
