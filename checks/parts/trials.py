"""What each exercise is called with, and what right and wrong answers are: drawn anew for each submission."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ...reference import rollout as eq
from ...submissions.questions.part_questions import Given
from . import readings as ways

_BATCH, _HEADS, _LAYERS, _WIDTH = 2, 3, 3, 12
_GRID, _SQUARE, _PATCH = (3, 4), (3, 3), 4
_PRINCIPAL = 28  # as many as the paper shows
_FILTERS = (64, 3, 4, 4)  # more filters than numbers in one, so that every component is determined

Answer = tuple[tuple[str, ...], Tensor]  # the ids of what is wrong about it, none for a right one


@dataclass(frozen=True)
class Trial:
    """One call, and the answers that are known.

    ``only_if`` names a role that the function must have for the call to mean anything. ``signs`` says that
    rows may be turned round, and stretched.
    """

    given: Given
    answers: tuple[Answer, ...]
    only_if: str | None = None
    signs: bool = False


@dataclass
class Drawn:
    """Random numbers of one seed, float64."""

    seed: int
    generator: torch.Generator = field(init=False)

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.seed)

    def normal(self, *shape: int) -> Tensor:
        return torch.randn(shape, generator=self.generator, dtype=torch.float64)

    def attention(self, *shape: int) -> Tensor:
        """Probabilities: rows sum to 1."""
        return self.normal(*shape).softmax(-1)


def trials(key: str, seed: int, fusion: str | None) -> list[list[Trial]]:
    """What is demanded of exercise ``key``, each demand in all usual forms of input, of which one must do."""
    if key == "fuse_heads":
        return _fuse_heads(Drawn(seed), fusion)
    return [list(_TRIALS[key](Drawn(seed), fusion))]


def _known(rows: Iterable[tuple[str | None, Tensor]]) -> tuple[Answer, ...]:
    return tuple(((name,) if name else (), tensor) for name, tensor in rows)


def _answers(table: Sequence[ways.Way], *inputs: object) -> tuple[Answer, ...]:
    return _known((name, function(*inputs)) for name, function in table)


def right_fusions(fusion: str | None) -> tuple[str, ...]:
    """Ids of the fusions that are right: both where the assignment names none."""
    return tuple(f"heads-fused-by-{one}" for one in ("mean", "max") if fusion in (None, one))


def _fusing(attention: Tensor, fusion: str | None) -> tuple[Answer, ...]:
    right = right_fusions(fusion)
    return _known((None if name in right else name, fuse(attention)) for name, fuse in ways.FUSIONS)


def _fuse_heads(drawn: Drawn, fusion: str | None) -> list[list[Trial]]:
    """With its default, and where it takes a mode, in every mode."""
    T = 1 + _GRID[0] * _GRID[1]
    attention = drawn.attention(_BATCH, _HEADS, T, T)
    modes = [
        [Trial({"maps": [attention], "mode": [mode]}, _fusing(attention, mode), only_if="mode")]
        for mode in ("mean", "max")
    ]
    return [*modes, [Trial({"maps": [attention]}, _fusing(attention, fusion))]]


def _on_maps(table: Sequence[ways.Way]) -> Callable[[Drawn, str | None], Iterator[Trial]]:
    def yielded(drawn: Drawn, fusion: str | None) -> Iterator[Trial]:
        T = 1 + _GRID[0] * _GRID[1]
        for shape in ((_BATCH, T, T), (T, T)):
            # rows do not sum to 1, as after fusing by max: that they are normalised shows
            attention = drawn.attention(*shape) * (1 + drawn.normal(*shape[:-1], 1).square())
            given: Given = {"maps": [attention], "share": [eq.RESIDUAL_SHARE]}
            yield Trial(given, _answers(table, attention))

    return yielded


def _attention_rollout(drawn: Drawn, fusion: str | None) -> Iterator[Trial]:
    """On processed maps, and on raw attention by a function that processes it, too."""
    T = 1 + _GRID[0] * _GRID[1]
    for batch in ((_BATCH,), (1,), ()):
        maps = [eq.normalise_rows(eq.mix_residual(drawn.attention(*batch, T, T))) for _ in range(_LAYERS)]
        mixed = [eq.normalise_rows(eq.mix_residual(one)) for one in maps]
        itself = (("rollout-mixes-residual-itself",), eq.attention_rollout(mixed))
        yield Trial(
            {"maps": [maps, torch.stack(maps)], "discard": [0.0]}, (*_answers(ways.ROLLOUTS, maps), itself)
        )
    raw = [drawn.attention(_BATCH, _HEADS, T, T) for _ in range(_LAYERS)]
    given: Given = {"maps": [raw, torch.stack(raw)], "mode": [fusion or "mean"], "discard": [0.0]}
    yield Trial(given, tuple(_rollouts_of(raw, fusion)))


def _rollouts_of(raw: Sequence[Tensor], fusion: str | None) -> Iterator[Answer]:
    for ids, maps in ways.processed(raw, right_fusions(fusion)):
        for name, function in ways.ROLLOUTS:
            found = (*ids, name) if name else ids
            if len(found) <= 1 or (name is None and len(found) <= 2):
                with suppress(RuntimeError):  # maps that were not fused do not multiply
                    yield found, function(maps)


def _class_token_map(drawn: Drawn, fusion: str | None) -> Iterator[Trial]:
    for grid, only_if in ((_GRID, "grid"), (_GRID, "patch"), (_SQUARE, None)):
        H, W = (side * _PATCH for side in grid) if only_if else (grid[0] * _PATCH, grid[0] * 2 * _PATCH)
        rollout = drawn.attention(_BATCH, 1 + grid[0] * grid[1], 1 + grid[0] * grid[1])
        for batch in (_BATCH, 1):
            given: Given = {
                "maps": [rollout[:batch], rollout[0]][: 3 - batch],
                "image": [drawn.normal(batch, 3, H, W), drawn.normal(3, H, W)][: 3 - batch],
                "grid": [grid, grid[0]],
                "patch": [_PATCH],
                "height": [H],
                "width": [W],
                "size": [(H, W), H],
            }
            yield Trial(given, tuple(_maps(rollout[:batch], grid, (H, W))), only_if=only_if)


def _maps(rollout: Tensor, grid: tuple[int, int], size: tuple[int, int]) -> Iterator[Answer]:
    """One mistake at most, and any of the usual scalings before the map is stretched, or after it."""
    for row, cut in ways.ROWS:
        for resizing, resize in ways.RESIZINGS:
            if row and resizing:
                continue
            ids = tuple(name for name in (row, resizing) if name)
            for scale in ways.SCALINGS:
                yield ids, scale(resize(cut(rollout, grid), size))
                yield ids, resize(scale(cut(rollout, grid)), size)


def _position_similarity(drawn: Drawn, fusion: str | None) -> Iterator[Trial]:
    for grid in (_GRID, _SQUARE):
        table = drawn.normal(1 + grid[0] * grid[1], _WIDTH)
        for form in (table[None], table):
            given: Given = {"maps": [form], "grid": [grid, grid[0]]}
            yield Trial(given, tuple(_similarities(table, grid)), only_if="grid" if grid == _GRID else None)
    patches = drawn.normal(_SQUARE[0] * _SQUARE[1], _WIDTH)
    padded = torch.cat([drawn.normal(1, _WIDTH), patches])
    yield Trial({"maps": [patches], "grid": [_SQUARE, _SQUARE[0]]}, tuple(_similarities(padded, _SQUARE)))


def _similarities(table: Tensor, grid: tuple[int, int]) -> Iterator[Answer]:
    for name, function in ways.SIMILARITIES:
        matrix = function(table)
        yield (name,) if name else (), matrix
        if matrix.shape[0] == grid[0] * grid[1]:
            gridded = matrix.reshape(*grid, *grid)
            yield (name,) if name else (), gridded
            yield (name,) if name else (), gridded.flatten(0, 1)
            if name is None:
                yield ("similarity-grid-transposed",), matrix.reshape(*grid[::-1], *grid[::-1])
                yield ("similarity-grid-transposed",), gridded.permute(1, 0, 3, 2)


def _filter_components(drawn: Drawn, fusion: str | None) -> Iterator[Trial]:
    D, *inside = _FILTERS
    F = torch.Size(inside).numel()
    left, _ = torch.linalg.qr(_centre(drawn.normal(D, F)))
    right, _ = torch.linalg.qr(drawn.normal(F, F))
    sizes = 0.9 ** torch.arange(F, dtype=torch.float64)  # apart from each other, so that each is determined
    sizes[_PRINCIPAL:] *= 1e-3  # and found by a randomised method as well
    filters = left * sizes @ right + drawn.normal(F)
    given: Given = {"maps": [filters.reshape(_FILTERS), filters], "count": [_PRINCIPAL]}
    yield Trial(given, tuple(_components(filters, inside)), signs=True)


def _centre(x: Tensor) -> Tensor:
    return x - x.mean(0)


def _components(filters: Tensor, inside: Sequence[int]) -> Iterator[Answer]:
    """As rows, as columns, as filters and as pictures with the channels last."""
    for name, function in ways.COMPONENTS:
        ids = (name,) if name else ()
        yield ids, function(filters, _PRINCIPAL)
    rows = ways.COMPONENTS[0][1](filters, filters.shape[1])
    yield from ((("filters-wrong-number",), rows[:count]) for count in (len(rows), 27, 29, 10, 3))


_TRIALS: dict[str, Callable[[Drawn, str | None], Iterator[Trial]]] = {
    "mix_residual": _on_maps(ways.MIXED),
    "normalise_rows": _on_maps(ways.NORMALISATIONS),
    "attention_rollout": _attention_rollout,
    "class_token_map": _class_token_map,
    "position_similarity": _position_similarity,
    "filter_components": _filter_components,
}
