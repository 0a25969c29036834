"""Known mistakes as wrong steps of the equations: what a program gives that makes one of them.

A mutant has the id of a mistake where its scores are those of the equations with that mistake in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from .oracle import ACTIVATIONS, State, Step, one_block


@dataclass(frozen=True)
class Mistake:
    """A wrong step, and the stage at which it is seen. A layout is right up to the order of weights."""

    id: str
    stage: str
    step: str
    wrong: Step
    kind: str = "error"  # error | variant | layout


def _in_place_of(id: str, stage: str, wrong: Step, step: str = "", kind: str = "error") -> Mistake:
    return Mistake(id, stage, step or stage, wrong, kind)


def _scaled(id: str, factor: Step) -> Mistake:
    return _in_place_of(id, "S12", lambda s: s.S09 @ s.S10.transpose(2, 3) * factor(s))


def _width(s: State) -> Tensor:
    return torch.tensor(float(s.S09.shape[-1]), dtype=s.S09.dtype)


def _discarded(s: State) -> Tensor:
    for number in range(s.depth):
        one_block(s, s.S07, number)
    return s.S07


def _short(s: State) -> Tensor:
    x = s.S07
    for number in range(s.depth - 1):
        x = one_block(s, x, number)
    return x


def _without_the_first(s: State) -> Tensor:
    x = s.S07
    for number in range(1, s.depth):
        x = one_block(s, x, number)
    return x


def _normed_each_time(s: State) -> Tensor:
    x = s.S07
    for number in range(s.depth):
        x = s.norm(one_block(s, x, number), "norm")
    return x


def _normed_sum(s: State, total: Tensor) -> Tensor:
    return s.norm(total, "norm1" if s.facts.placement == "post" else "norm2")


def _ended(s: State, total: Tensor) -> Tensor:
    placement = s.facts.placement
    return (
        total if placement in ("pre", "both") else s.norm(total, "norm2" if placement == "post" else "norm3")
    )


def _reread(s: State, x: Tensor) -> Tensor:
    return s.norm(x, "norm") if s.facts.final_norm == "representation" else x


def _mapped_by_columns(s: State) -> Tensor:
    return _columns_first(s, s.linear(s.S03, "patch"))


def _map_cut(s: State) -> Tensor:
    return s.linear(s.S03, "patch").transpose(1, 2).reshape(len(s.S01), s.S03.shape[1], -1)


def _heads_cut(s: State, role: str) -> Tensor:
    x = s.linear(s.read, role)
    return x.reshape(len(x), s.heads, x.shape[1], -1)


def _heads_cut_everywhere(id: str) -> tuple[Mistake, ...]:
    roles = {"S09": "query", "S10": "key", "S11": "value"}
    return tuple(_in_place_of(id, stage, partial(_heads_cut, role=role)) for stage, role in roles.items())


MISTAKES: tuple[Mistake, ...] = (
    _in_place_of("unfold-reshape-not-transpose", "S03", lambda s: _recut(s)),
    _in_place_of("flatten-channel-last", "S03", lambda s: _turned(s, (0, 1, 3, 4, 2)), kind="variant"),
    _in_place_of("patch-pixels-transposed", "S02", lambda s: _turned(s, (0, 1, 2, 4, 3)), "S03", "layout"),
    _in_place_of("patch-columns-first", "S02", _mapped_by_columns, "S04", "layout"),
    # the same numbers, where a convolution makes the tokens
    _in_place_of("conv-tokens-column-major", "S04", _mapped_by_columns, kind="layout"),
    _in_place_of("conv-reshape-not-transpose", "S04", _map_cut),
    _in_place_of("cls-appended-last", "S06", lambda s: torch.cat((s.S04, s.S05), dim=1)),
    _in_place_of("pos-missing", "S07", lambda s: s.S06),
    _in_place_of("pos-multiplied", "S07", lambda s: s.S06 * s.weights("positions")),
    _in_place_of("pos-added-twice", "S07", lambda s: s.S06 + 2 * s.weights("positions")),
    _in_place_of("norm1-skipped", "S09", lambda s: s.S08, "read"),
    _in_place_of("query-equals-key", "S10", lambda s: s.S09),
    _in_place_of("query-equals-key", "S09", lambda s: s.split(s.linear(s.read, "key"))),
    _in_place_of("keys-reused-as-values", "S11", lambda s: s.S10),
    *_heads_cut_everywhere("heads-split-without-transpose"),
    _scaled("scale-missing", lambda s: torch.ones((), dtype=s.S09.dtype)),
    _scaled("scale-by-embed-dim", lambda s: (_width(s) * s.heads) ** -0.5),
    _scaled("scale-by-head-dim", lambda s: _width(s) ** -1),
    _scaled("scale-multiplied", lambda s: _width(s) ** 0.5),
    _scaled("scale-by-num-heads", lambda s: _width(s).fill_(s.heads) ** -0.5),
    _in_place_of("kq-transposed", "S12", lambda s: s.S10 @ s.S09.transpose(2, 3) * s.S09.shape[-1] ** -0.5),
    _in_place_of("softmax-over-queries", "S13", lambda s: s.S12.softmax(dim=2)),
    _in_place_of("softmax-over-heads", "S13", lambda s: s.S12.softmax(dim=1)),
    _in_place_of("softmax-over-batch", "S13", lambda s: s.S12.softmax(dim=0)),
    _in_place_of("softmax-missing", "S13", lambda s: s.S12),
    _in_place_of("softmax-twice", "S13", lambda s: s.S12.softmax(dim=3).softmax(dim=3)),
    _in_place_of("probs-transposed", "S14", lambda s: s.S13.transpose(2, 3) @ s.S11),
    _in_place_of("context-uses-keys", "S14", lambda s: s.S13 @ s.S10),
    _in_place_of(
        "heads-merged-without-transpose",
        "S15",
        lambda s: s.S14.reshape(len(s.S14), s.S14.shape[2], -1),
        "merged",
    ),
    _in_place_of(
        "heads-interleaved-on-merge",
        "S15",
        lambda s: s.S14.permute(0, 2, 3, 1).flatten(2),
        "merged",
        "layout",
    ),
    _in_place_of("output-projection-missing", "S15", lambda s: s.merged),
    _in_place_of("residual-attn-missing", "S16", lambda s: s.branch1, "attended"),
    _in_place_of("residual-self-add", "S16", lambda s: 2 * s.branch1, "attended"),
    _in_place_of("residual-from-normed-attn", "S16", lambda s: s.read + s.branch1, "attended"),
    _in_place_of("residual-doubled", "S16", lambda s: 2 * s.S08 + s.branch1, "attended"),
    _in_place_of("residual-multiplied", "S16", lambda s: s.S08 * s.branch1, "attended"),
    _in_place_of("norm2-skipped", "S16", lambda s: s.attended),
    _in_place_of("norm1-reused-for-norm2", "S16", lambda s: s.norm(s.attended, "norm1")),
    _in_place_of("mlp-reads-block-input", "S16", lambda s: _normed_sum(s, s.S08)),
    _in_place_of("mlp-reads-attn-output", "S16", lambda s: _normed_sum(s, s.S15)),
    _in_place_of("activation-missing", "S17", lambda s: s.linear(s.S16, "fc1")),
    _in_place_of("relu-instead-of-gelu", "S17", lambda s: torch.relu(s.linear(s.S16, "fc1")), kind="variant"),
    _in_place_of(
        "extra-activation-after-fc2", "S18", lambda s: ACTIVATIONS[s.facts.activation](s.linear(s.S17, "fc2"))
    ),
    _in_place_of("residual-mlp-missing", "S19", lambda s: _ended(s, s.branch2), "S20"),
    _in_place_of("residual-mlp-from-normed", "S19", lambda s: _ended(s, s.S16 + s.branch2), "S20"),
    _in_place_of(
        "residual-mlp-from-raw-sum", "S19", lambda s: _ended(s, s.attended + s.branch2), "S20", "variant"
    ),
    _in_place_of("residual-mlp-from-block-input", "S19", lambda s: _ended(s, s.S08 + s.branch2), "S20"),
    _in_place_of("residual-doubled", "S19", lambda s: _ended(s, 2 * s.attended + s.branch2), "S20"),
    _in_place_of("residual-multiplied", "S19", lambda s: _ended(s, s.attended * s.branch2), "S20"),
    _in_place_of("block-result-discarded", "S22", _discarded),
    _in_place_of("depth-off-by-one", "S22", _short),
    _in_place_of("depth-off-by-one", "S22", _without_the_first),
    _in_place_of("final-norm-inside-loop", "S22", _normed_each_time),
    _in_place_of("every-block-reads-first-input", "S21", lambda s: one_block(s, s.S07, s.depth - 1), "S22"),
    _in_place_of("final-norm-missing", "S23", lambda s: s.S22),
    _in_place_of("final-norm-missing", "S24", lambda s: s.S23[:, 0], "S24"),
    _in_place_of("readout-last-token", "S24", lambda s: _reread(s, s.S23[:, -1])),
    _in_place_of("readout-last-token", "S24", lambda s: _reread(s, s.S23[:, 1])),
    _in_place_of("mean-pool-includes-cls", "S24", lambda s: _reread(s, s.S23.mean(dim=1)), kind="variant"),
    _in_place_of("softmax-in-logits", "S25", lambda s: s.linear(s.S24, "head").softmax(dim=-1)),
)


def _recut(s: State) -> Tensor:
    windows = torch.nn.functional.unfold(s.S01, s.patch, stride=s.patch)
    return windows.reshape(len(windows), windows.shape[2], windows.shape[1])


def _turned(s: State, axes: tuple[int, ...]) -> Tensor:
    """The flattened patches with the axes of B N C P P in another order."""
    right = torch.nn.functional.unfold(s.S01, s.patch, stride=s.patch).transpose(1, 2)
    return right.reshape(*right.shape[:2], -1, s.patch, s.patch).permute(axes).flatten(2)


def _columns_first(s: State, tokens: Tensor) -> Tensor:
    rows = s.S01.shape[2] // s.patch
    return tokens.reshape(len(tokens), rows, -1, tokens.shape[2]).transpose(1, 2).flatten(1, 2)


def _projected(s: State, role: str) -> Tensor:
    return s.split(s.linear(s.read, role))


def _unpacked(order: tuple[str, str, str]) -> dict[str, Step]:
    return {stage: partial(_projected, role=role) for stage, role in zip(("S09", "S10", "S11"), order)}


# the three thirds of a fused layer, taken in another order: right up to the order of weights
ORDERS: tuple[dict[str, Step], ...] = tuple(
    _unpacked(order)
    for order in (
        ("query", "value", "key"),
        ("key", "query", "value"),
        ("key", "value", "query"),
        ("value", "query", "key"),
        ("value", "key", "query"),
    )
)
