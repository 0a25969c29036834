"""What the axes of a stage are called."""

from __future__ import annotations

from collections.abc import Sequence

NAMES = {
    "B": "image",
    "h": "head",
    "T": "token",
    "N": "patch",
    "D": "feature",
    "d": "feature",
    "M": "hidden unit",
    "K": "class",
    "F": "number",
    "C": "channel",
    "P": "pixel",
    "1": "token",
}
_MOST = 6  # members of a list that are spelt out


def names_of(axes: str) -> list[str]:
    """The name of each axis; of two axes of tokens the first belongs to the queries."""
    letters = axes.split()
    if letters[-2:] == ["T", "T"]:
        return [*(NAMES.get(one, one) for one in letters[:-2]), "query", "key"]
    return [NAMES.get(one, one) for one in letters]


def plural(name: str) -> str:
    """Such as "patches" and "queries"."""
    if name == "query":
        return "queries"
    return name + ("es" if name.endswith(("ch", "s")) else "s")


def members(name: str, indices: Sequence[int]) -> str:
    """Such as "token 3", "tokens 1 to 6" or "heads 0, 2"."""
    if len(indices) == 1:
        return f"{name} {indices[0]}"
    if list(indices) == list(range(indices[0], indices[-1] + 1)):
        return f"{plural(name)} {indices[0]} to {indices[-1]}"
    shown = ", ".join(map(str, indices[:_MOST]))
    return f"{plural(name)} {shown}" + (f" and {len(indices) - _MOST} more" if len(indices) > _MOST else "")
