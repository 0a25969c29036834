"""What is to be said of the maps that serve as query, key and value: their biases, and their names."""

from __future__ import annotations

from ..walk import Walk
from .heads import Heads
from .naming import key_comes_first


def about_maps(walk: Walk, heads: Heads) -> None:
    """Adds what was found about the maps of the query, key and value just settled."""
    if heads.maps and all(one.bias is None for one in heads.maps):
        walk.note("qkv-bias-missing", "query")
    if heads.packing == "separate" and heads.id is None and len(heads.maps) == 3:
        q, k, _ = heads.maps
        if key_comes_first(walk, q, k):
            walk.note("kq-transposed", "attention_scores")
