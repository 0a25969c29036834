"""Programs that a generator makes: what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from .cases import corpus

KINDS = ("right", "part", "wrong", "unfinished", "odd")


@dataclass(frozen=True)
class Generated:
    """A program, and what is known of it by construction and by measurement."""

    name: str
    kind: str
    files: Mapping[str, bytes]
    sizes: Mapping[
        str, int
    ]  # of the model, by the names of an assignment file; none where none are asked for
    part: str = ""  # the component that it is, where it is no whole model
    has: tuple[str, ...] = ()  # labels of the stages that its text computes
    differs: str = ""  # what is wrong of it, as measured: raises, scores, gradients, …
    stages: tuple[str, ...] = ()  # labels; the first fault is at one of them; empty where that is not known
    faulty: tuple[str, ...] = ()  # labels; the faults are at some of them, and at no other
    ids: tuple[str, ...] = ()  # of the mistakes that it makes; empty where the catalogue has none
    untrue: tuple[str, ...] = ()  # ids of which it is known that it does not make them
    lines: tuple[int, ...] = ()  # of the statements that are wrong


Maker: TypeAlias = Callable[[str, str, int], Generated]


def load_maker(folder: Path) -> Maker:
    """The generator of a corpus: ``generated`` in its ``selftest_cases.py``, of a kind, a seed and a number.

    Raises ValueError where there is none.
    """
    maker: Maker = corpus(folder).generated
    return maker
