"""Names of mistakes that hold at the sizes of few examples alone: a name has to explain every one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from ..architecture.family import Family
from .passes.example import Example

_WHOLE, _HIDING = 2, 1  # votes; where something is one, such as the channels, an axis tells little
_Shown = list[tuple[set[str], int]]  # ids of one example, and what that counts


def outvoted(examples: Sequence[Example], family: Family) -> set[tuple[str, str]]:
    """Keys of stages and ids that fewer examples show than those that others show in their place.

    In images of one channel, channels last or first is the same order of pixels.
    """
    shown: dict[str, _Shown] = defaultdict(list)
    for example in examples:
        counts = _HIDING if 1 in vars(example.draw.sizes).values() else _WHOLE
        told: dict[str, set[str]] = defaultdict(set)
        for step in example.walk.steps:
            told[step.key] |= {one.id for one in step.findings if family.mistake(one.id).kind == "error"}
        for key, ids in told.items():
            shown[key] += [(ids, counts)] if ids else []
    return {(key, id) for key, one in shown.items() for id in _fewer(one)}


def _fewer(shown: _Shown) -> set[str]:
    """Those that never stand beside what more examples show."""
    votes = Counter[str]()
    for ids, counts in shown:
        votes.update(dict.fromkeys(ids, counts))
    usual = {id for id, count in votes.items() if count == max(votes.values())}
    return {id for id in votes if not any(id in ids and ids & usual for ids, _ in shown)}
