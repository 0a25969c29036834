"""The pipeline as a drawing: a column for each part of the model, joined where they stand side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise

from ..words.wording import say
from .diagram_nodes import Node, Sum, placed, sources_of
from .diagram_paths import Path, arc, down, edge, entry, exits, into
from .stage_views import StageView, State

_PARTS = {
    "embedding": (
        ("image",),
        ("patches",),
        ("flattened_patches",),
        ("patch_embeddings", "class_token"),
        ("tokens",),
        ("positioned_tokens",),
    ),
    "block": (
        ("block_input",),
        ("query", "key", "value"),
        ("attention_scores",),
        ("attention_probabilities",),
        ("attention_context",),
        ("attention_output",),
        ("post_attention_norm",),
        ("mlp_hidden",),
        ("mlp_output",),
        ("post_mlp_norm",),
        ("block_output",),
    ),
    "readout": (
        ("second_block_output",),
        ("last_block_output",),
        ("final_sequence",),
        ("class_representation",),
        ("logits",),
        ("class_probabilities",),
    ),
}
_PLACED = {key for rows in _PARTS.values() for row in rows for key in row}
_SUM = re.compile(r"[A-Z]\d\d(?: \+ [A-Z]\d\d)+")

_Rows = list[list[StageView]]


@dataclass(frozen=True)
class DiagramColumn:
    """A part of the model: its boxes, the sums of its residual connections, and its lines.

    ``beside`` are the lines to its neighbours where columns stand side by side, ``stacked`` those where each
    stands below the one before.
    """

    title: str
    height: float
    nodes: tuple[Node, ...]
    sums: tuple[Sum, ...]
    edges: tuple[Path, ...]
    arcs: tuple[Path, ...]
    beside: tuple[Path, ...] = ()
    stacked: tuple[Path, ...] = ()


def columns(stages: Sequence[StageView], thumbnails: Mapping[str, str]) -> tuple[DiagramColumn, ...]:
    """The parts of the model that have one of ``stages``; ``thumbnails`` are data URIs by label."""
    known = {one.key: one for one in stages}
    parts = {
        name: [[known[key] for key in row if key in known] for row in rows] for name, rows in _PARTS.items()
    }
    parts["others"] = []
    for number, one in enumerate(stages):
        if one.key not in _PLACED:
            _place(one, stages[number + 1 :], parts)
    unwritten = next((one.label for one in stages if one.state is State.NOT_WRITTEN), "")
    drawn = [
        _column(name, [row for row in rows if row], thumbnails, unwritten)
        for name, rows in parts.items()
        if any(rows)
    ]
    return tuple(_joined(drawn))


def _place(stage: StageView, later: Sequence[StageView], parts: Mapping[str, _Rows]) -> None:
    """Another architecture's stage stands above the next that is known here, or at the end."""
    following = next((one for one in later if one.key in _PLACED), None)
    for rows in parts.values():
        for number, row in enumerate(rows):
            if following in row:
                rows.insert(number, [stage])
                return
    last = [rows for rows in parts.values() if any(rows)]
    (last[-1] if last else parts["others"]).append([stage])


def _column(name: str, rows: _Rows, thumbnails: Mapping[str, str], unwritten: str) -> DiagramColumn:
    inside = [one.label for one in chain(*rows)]
    added = {one.label: _terms(one, inside) for one in chain(*rows)}
    summed = {label for label, terms in added.items() if len(terms) > 1}
    nodes, sums, height = placed(rows, summed, thumbnails, unwritten)
    edges, arcs = [], []
    for node in nodes.values():
        label = node.stage.label
        if label in sums:
            *around, last = _added(added, label, nodes, sums)
            arcs += [arc(one, sums[label]) for one in around]
            edges += [into(last, sums[label]), down(sums[label], node)]
        else:
            edges += [
                edge(nodes[one], node) for one in sources_of(node.stage) if one in inside and one != label
            ]
    told = (
        replace(one, sources=tuple(each for each in one.sources if each not in inside))
        for one in nodes.values()
    )
    return DiagramColumn(
        say(f"diagram.{name}"), height, tuple(told), tuple(sums.values()), tuple(edges), tuple(arcs)
    )


def _terms(stage: StageView, inside: Sequence[str]) -> list[str]:
    """Those of ``inside`` that are added in its equation, in the order of ``inside``."""
    found = _SUM.search(stage.equation)
    terms = found.group().split(" + ") if found else []
    return [one for one in inside if one in terms]


def _added(
    added: Mapping[str, list[str]], label: str, nodes: Mapping[str, Node], sums: Mapping[str, Sum]
) -> list[Node | Sum]:
    """What comes together above a box, the last of it straight: boxes, or an earlier sum in their place."""
    terms = added[label]
    earlier = [one for one in sums if one != label and added[one] == terms[: len(added[one])] != terms]
    begun = earlier[-1:]
    rest = terms[len(added[begun[0]]) :] if begun else terms
    return [*(sums[one] for one in begun), *(nodes[one] for one in rest)]


def _joined(drawn: Sequence[DiagramColumn]) -> list[DiagramColumn]:
    """With lines from the last box of each to the first of the next, where that is computed from it."""
    found = list(drawn)
    for number, (before, after) in enumerate(pairwise(drawn)):
        last, first = before.nodes[-1], after.nodes[0]
        if last.stage.label not in first.sources:
            continue
        beside, stacked = exits(last, before.height)
        left = found[number]
        found[number] = replace(left, beside=(*left.beside, beside), stacked=(*left.stacked, stacked))
        beside, stacked = entry(first, before.height)
        others = tuple(one for one in first.sources if one != last.stage.label)
        nodes = (replace(first, sources=others), *after.nodes[1:])
        found[number + 1] = replace(after, nodes=nodes, beside=(beside,), stacked=(stacked,))
    return found
