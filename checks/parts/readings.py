"""Right and wrong ways to read a trained ViT, as data: each wrong one is a small pure function with its id.

The first of each table is right. The equations are the reference's own (``reference.rollout``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from ...reference import rollout as eq

Way = tuple[str | None, Callable[..., Tensor]]


def _identity(attention: Tensor) -> Tensor:
    return torch.eye(attention.shape[-1], dtype=attention.dtype)


# B h T T to B T T.
FUSIONS: tuple[Way, ...] = (
    ("heads-fused-by-mean", lambda a: a.mean(1)),
    ("heads-fused-by-max", lambda a: a.amax(1)),
    ("heads-summed", lambda a: a.sum(1)),
    ("heads-fused-by-min", lambda a: a.amin(1)),
    ("heads-only-first", lambda a: a[:, 0]),
    ("heads-only-first", lambda a: a[:, -1]),
    ("heads-not-fused", lambda a: a),
    ("heads-fused-over-wrong-axis", lambda a: a.mean(0)),
    ("heads-fused-over-wrong-axis", lambda a: a.mean(2)),
    ("heads-fused-over-wrong-axis", lambda a: a.mean(-1)),
    ("heads-fused-over-wrong-axis", lambda a: a.amax(-1)),
)

# B T T to B T T.
MIXES: tuple[Way, ...] = (
    (None, eq.mix_residual),
    ("rollout-residual-missing", lambda a: a),
    ("rollout-residual-not-halved", lambda a: a + _identity(a)),
    ("rollout-residual-not-halved", lambda a: a + 0.5 * _identity(a)),
    ("rollout-residual-not-halved", lambda a: 0.5 * a + _identity(a)),
    ("rollout-residual-of-ones", lambda a: 0.5 * a + 0.5),
    ("rollout-residual-multiplied", lambda a: a * _identity(a)),
    ("rollout-residual-multiplied", lambda a: 0.5 * a * _identity(a)),
)
# The rows may be normalised by the same function, or by another.
MIXED: tuple[Way, ...] = (*MIXES, (None, lambda a: eq.normalise_rows(eq.mix_residual(a))))
NORMALISATIONS: tuple[Way, ...] = (
    (None, eq.normalise_rows),
    ("rollout-rows-not-normalised", lambda a: a),
    ("rollout-columns-normalised", lambda a: a / a.sum(-2, keepdim=True)),
    ("rollout-normalised-by-all", lambda a: a / a.sum((-2, -1), keepdim=True)),
    ("rollout-normalised-by-max", lambda a: a / a.amax(-1, keepdim=True)),
    ("rollout-normalised-by-max", lambda a: a / a.amax((-2, -1), keepdim=True)),
    ("rollout-rows-softmaxed", lambda a: a.softmax(-1)),
)


def _product(maps: Sequence[Tensor], reverse: bool = False) -> Tensor:
    ordered = list(maps)[::-1] if reverse else list(maps)
    result = ordered[0]
    for one in ordered[1:]:
        result = one @ result
    return result


def _elementwise(maps: Sequence[Tensor]) -> Tensor:
    result = maps[0]
    for one in maps[1:]:
        result = result * one
    return result


# L maps B T T to B T T.
ROLLOUTS: tuple[Way, ...] = (
    (None, eq.attention_rollout),
    ("rollout-order-reversed", lambda m: _product(m, reverse=True)),
    ("rollout-sum-of-layers", lambda m: torch.stack(list(m)).sum(0)),
    ("rollout-mean-of-layers", lambda m: torch.stack(list(m)).mean(0)),
    ("rollout-elementwise-product", _elementwise),
    ("rollout-skips-layers", lambda m: _product(m[1:])),
    ("rollout-skips-layers", lambda m: _product(m[:-1])),
    ("rollout-skips-layers", lambda m: m[-1] @ m[-2]),
    ("rollout-skips-layers", lambda m: m[-1] @ m[0]),
    ("rollout-one-layer-only", lambda m: m[-1]),
    ("rollout-one-layer-only", lambda m: m[0]),
    ("rollout-counts-first-layer-twice", lambda m: _product([m[0], *m])),
    ("rollout-transposed", lambda m: _product(m).mT),
    ("rollout-transposed", lambda m: _product([one.mT for one in m])),
    ("rollout-columns-normalised", lambda m: NORMALISATIONS[2][1](_product(m))),
    ("rollout-normalised-by-all", lambda m: NORMALISATIONS[3][1](_product(m))),
    ("rollout-normalised-by-max", lambda m: NORMALISATIONS[4][1](_product(m))),
    ("rollout-normalised-by-max", lambda m: NORMALISATIONS[5][1](_product(m))),
    ("rollout-rows-softmaxed", lambda m: _product(m).softmax(-1)),
)


def _ids(*names: str | None) -> tuple[str, ...]:
    return tuple(name for name in names if name)


def processed(
    attention: Sequence[Tensor], fusions: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], list[Tensor]]]:
    """Yield ids and maps for every way to process the attention of all layers, the fewest mistakes first.

    ``fusions`` are those that are right.
    """
    ways = [
        (
            tuple(name for name in (None if fusion in fusions else fusion, mix, norm) if name),
            (fuse, add, scale),
        )
        for fusion, fuse in FUSIONS
        for mix, add in MIXES
        for norm, scale in NORMALISATIONS
    ]
    for ids, (fuse, add, scale) in sorted(ways, key=lambda way: len(way[0])):
        fused = [fuse(one) for one in attention]
        if len(ids) <= 2 and fused[0].shape[-1] == fused[0].shape[-2]:
            yield ids, [scale(add(one)) for one in fused]


def _row(part: Callable[[Tensor], Tensor]) -> Callable[[Tensor, tuple[int, int]], Tensor]:
    return lambda rollout, grid: part(rollout).reshape(-1, *grid)


# B T T to B gh gw.
ROWS: tuple[Way, ...] = (
    (None, eq.class_token_map),
    ("class-column-instead-of-row", _row(lambda r: r[:, 1:, 0])),
    ("class-token-not-dropped", _row(lambda r: r[:, 0, :-1])),
    ("map-of-all-tokens", _row(lambda r: r.mean(1)[:, 1:])),
    ("map-of-all-tokens", _row(lambda r: r[:, 1:, 1:].mean(1))),
    ("map-of-another-token", _row(lambda r: r[:, 1, 1:])),
    ("map-of-another-token", _row(lambda r: r[:, -1, 1:])),
    ("map-grid-transposed", lambda r, g: r[:, 0, 1:].reshape(-1, g[1], g[0]).mT),
    ("map-grid-transposed", lambda r, g: eq.class_token_map(r, g).mT),
)


def _resized(mode: str, **options: bool) -> Callable[[Tensor, tuple[int, int]], Tensor]:
    return lambda m, size: F.interpolate(m[:, None], size=size, mode=mode, **options)[:, 0]


# B gh gw to B H W.
RESIZINGS: tuple[Way, ...] = (
    (None, eq.resize_map),
    ("resize-align-corners", _resized("bilinear", align_corners=True)),
    ("resize-not-bilinear", _resized("nearest")),
    ("resize-not-bilinear", _resized("bicubic", align_corners=False)),
    ("resize-sizes-swapped", lambda m, size: eq.resize_map(m, (size[1], size[0]))),
    ("resize-missing", lambda m, size: m),
)


def _range(x: Tensor) -> Tensor:
    low, high = x.amin((-2, -1), keepdim=True), x.amax((-2, -1), keepdim=True)
    return (x - low) / (high - low)


# What a map for a picture may be divided by, all right.
SCALINGS: tuple[Callable[[Tensor], Tensor], ...] = (
    lambda x: x,
    _range,
    lambda x: x / x.amax((-2, -1), keepdim=True),
    lambda x: x / x.sum((-2, -1), keepdim=True),
    lambda x: (x - x.min()) / (x.max() - x.min()),
    lambda x: x / x.max(),
)


def _cosines(x: Tensor) -> Tensor:
    unit: Tensor = x / x.norm(dim=-1, keepdim=True)
    return unit @ unit.mT


# N D, or with the class token T D, to N N (or T T).
SIMILARITIES: tuple[Way, ...] = (
    (None, lambda p: _cosines(p[1:])),
    ("similarity-not-normalised", lambda p: p[1:] @ p[1:].mT),
    ("similarity-not-normalised", lambda p: p[1:] @ p[1:].mT / p.shape[-1]),
    ("similarity-not-normalised", lambda p: p[1:] @ p[1:].mT / p.shape[-1] ** 0.5),
    ("similarity-normalised-once", lambda p: p[1:] @ (p[1:] / p[1:].norm(dim=-1, keepdim=True)).mT),
    ("similarity-normalised-once", lambda p: (p[1:] / p[1:].norm(dim=-1, keepdim=True)) @ p[1:].mT),
    ("similarity-centred", lambda p: _cosines(p[1:] - p[1:].mean(-1, keepdim=True))),
    ("similarity-centred", lambda p: _cosines(p[1:] - p[1:].mean(0))),
    ("similarity-with-class-token", _cosines),
    ("similarity-drops-last-token", lambda p: _cosines(p[:-1])),
    ("similarity-as-distance", lambda p: torch.cdist(p[1:], p[1:])),
    ("similarity-as-distance", lambda p: 1 - _cosines(p[1:])),
    ("similarity-of-features", lambda p: _cosines(p[1:].mT)),
    ("similarity-of-features", lambda p: _cosines(p.mT)),
)


def _directions(filters: Tensor) -> Tensor:
    directions: Tensor = torch.linalg.svd(filters, full_matrices=False)[2]
    return directions


def _centred(filters: Tensor, axis: int | tuple[int, ...]) -> Tensor:
    return filters - filters.mean(axis, keepdim=True)


# D filters of F numbers to components of F numbers.
COMPONENTS: tuple[Way, ...] = (
    (None, lambda f, n: _directions(_centred(f, 0))[:n]),
    ("filters-not-centred", lambda f, n: _directions(f)[:n]),
    ("filters-centred-one-by-one", lambda f, n: _directions(_centred(f, 1))[:n]),
    ("filters-centred-one-by-one", lambda f, n: _directions(_centred(f, (0, 1)))[:n]),
    ("filters-smallest-components", lambda f, n: _directions(_centred(f, 0))[-n:]),
    ("filters-smallest-components", lambda f, n: _directions(_centred(f, 0)).flip(0)[:n]),
    ("filters-order-reversed", lambda f, n: _directions(_centred(f, 0))[:n].flip(0)),
    ("filters-of-the-width", lambda f, n: _directions(_centred(f, 0).mT)[:n]),
    ("filters-of-the-width", lambda f, n: _directions(_centred(f.mT, 0))[:n]),
    ("filters-raw", lambda f, n: f[:n]),
)
