"""How long it takes to compare a class, and which planted copies are pointed out."""

from __future__ import annotations

import ast
import time
from argparse import ArgumentParser
from collections.abc import Callable
from itertools import combinations, islice

from common import show
from copies import renamed, reordered
from corpus import BASES

from vitcheck.checks.tools.similarity import similar_pairs

SOURCES = {name: base.source() for name, base in BASES.items()}
COPIES: dict[str, Callable[[str], str]] = {
    "without comments": lambda text: ast.unparse(ast.parse(text)),
    "short names changed": renamed,
    "in another order": lambda text: reordered(text, 1),
    "both": lambda text: reordered(renamed(text), 1),
}


def found(kind: str) -> tuple[str, int, int]:
    """Each program with one copy of it, compared by themselves."""
    copies = {name: COPIES[kind](text) for name, text in SOURCES.items()}
    pointed_out = sum(bool(similar_pairs({"one": SOURCES[name], "other": copies[name]})) for name in SOURCES)
    return kind, len(copies), pointed_out


def class_of(size: int) -> dict[str, str]:
    """Programs that nobody wrote alike are too few, so most are each other's in another order."""
    every = (
        (f"{name}-{seed}", reordered(text, seed)) for seed in range(size) for name, text in SOURCES.items()
    )
    return dict(islice(every, size))


def seconds(size: int) -> tuple[int, int, float]:
    class_ = class_of(size)
    began = time.process_time()
    similar_pairs(class_)
    return size, size * (size - 1) // 2, time.process_time() - began


if __name__ == "__main__":
    parser = ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[125, 250, 500], help="of the classes")
    options = parser.parse_args()
    independent = len(list(combinations(SOURCES, 2)))
    listed = len(similar_pairs(SOURCES))
    show(
        ("copy", "pairs", "pointed out"),
        [*map(found, COPIES), ("none: two programs of the corpus", independent, listed)],
    )
    show(("submissions", "pairs", "processor seconds"), map(seconds, options.sizes))
