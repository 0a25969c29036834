"""What is to be said of the maps that serve as query, key and value: their biases, and their names."""

from __future__ import annotations

import re

from .parameters import Linear
from .projections import Heads
from .walk import Walk

_NAMES = {"query": r"q|queries|query|wq|qw", "key": r"k|keys|key|wk|kw"}  # between dots and underscores


def about_maps(walk: Walk, heads: Heads) -> None:
    """Adds what was found about the maps of the query, key and value just settled."""
    if heads.maps and all(one.bias is None for one in heads.maps):
        walk.note("qkv-bias-missing", "query")
    if heads.packing == "separate" and heads.id is None and len(heads.maps) == 3:
        q, k, _ = (_name(walk, one) for one in heads.maps)
        if _is_called(q, "key") and _is_called(k, "query"):
            walk.note("kq-transposed", "attention_scores")


def _name(walk: Walk, map_: Linear) -> str:
    return walk.trace.value(walk.trace.used(map_.weight)).name


def _is_called(name: str, role: str) -> bool:
    return any(re.fullmatch(_NAMES[role], word) for word in re.split(r"[._\\d]+", name.lower()))
