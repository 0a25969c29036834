"""What is wrong with a table of positions itself: how it was cut from its parameter, or its fixed formula."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from ...submissions.host.trace import Use
from ..locating.comparing import TABLE, equal
from ..locating.context import Context, Predict, as_rows
from ..locating.search.origins import origin
from ..locating.walk import Walk

_STAGE = "positioned_tokens"
_RIGHT, _REORDERED, _OTHER = "", "sinusoid-halves-layout", "sinusoid-wrong-frequencies"  # of formulas
_MEANT = 0.25  # the share of a formula's columns from which on the others are meant to be such, too
_SAMPLES = 6  # of a column that tell a wave from other numbers
_CURVED = 1e-2  # what is straighter may be a count of the positions
_OFF = 1e-3  # of sums of three numbers whose angles, up to thousands, were computed in float32
_BASE = 10000.0  # of the wavelengths; Vaswani et al. 2017, section 3.5


def rows_of(table: Use) -> Predict:
    """The table as rows of D numbers."""
    return lambda context: as_rows(context.use(table), context.sizes.embed_dim)


def about_table(walk: Walk, use: Use) -> None:
    """Adds what is to be said of the table that ``use`` consumes to the latest step."""
    table = rows_of(use)(walk.context)
    leaves = origin(walk.trace, walk.trace.used(use)).leaves
    stored = [leaf for leaf in leaves if leaf.cells is not None and "float" in leaf.dtype]
    learned = [leaf for leaf in stored if leaf.kind == "parameter"]
    rows = [walk.trace.tensor(leaf.reference) for leaf in learned or stored]
    fitting = [as_rows(one, table.shape[1]) for one in rows if one.numel() % table.shape[1] == 0]
    is_whole = (
        len(table) == walk.context.stage("tokens").shape[1]
    )  # else the class token's row may be left out
    names = [cut_wrongly(table, one) for one in fitting[:1] if is_whole]
    # a parameter that learns nothing may hold a formula, too
    if not any(names) or (not learned and names == ["cls-without-position"]):
        names = [fixed_formula(table, walk.sizes.grid)]
    is_formula = names[0] in (_RIGHT, _REORDERED, _OTHER)
    if is_formula:
        walk.formulas = {_STAGE: names[0] != _OTHER}
    if not learned and stored and all(leaf.kind == "tensor" for leaf in stored):
        walk.note("buffer-not-registered" if is_formula else "pos-not-parameter", _STAGE)
    for name in names:
        if name:
            walk.note(name, _STAGE)
    if names[0] == _OTHER:
        variants = (partial(_with_sinusoids, rows=len(table)), _with_rows_and_columns)
        walk.steps[-1] = replace(walk.steps[-1], variants=variants)


def _with_sinusoids(context: Context, rows: int) -> Tensor:
    """Of the last so many ``rows``: a class token may have none."""
    tokens = context.stage("tokens")
    added = torch.zeros_like(tokens)
    added[:, -rows:] = _sinusoids(rows, tokens.shape[2])[0]
    return tokens + added


def _with_rows_and_columns(context: Context) -> Tensor:
    """As He et al. write them: of the column, then of the row, and nothing for a class token."""
    tokens, (rows, columns) = context.stage("tokens"), context.sizes.grid
    if tokens.shape[2] % 4:
        raise ValueError("a width that is no multiple of four holds no sines of rows and of columns")
    of_rows, of_columns = (_sinusoids(size, tokens.shape[2] // 2)[1] for size in (rows, columns))
    table = torch.cat([of_columns.repeat(rows, 1), of_rows.repeat_interleave(columns, 0)], 1)
    return torch.cat([tokens[:, : -len(table)], tokens[:, -len(table) :] + table], 1)


def cut_wrongly(table: Tensor, leaf: Tensor) -> str | None:
    """How the rows of ``table`` were wrongly taken from those of ``leaf``, each with D columns."""
    T, rows = len(table), len(leaf)
    if bool((table == table[0]).all()):
        return "pos-single-vector"
    if rows >= T and torch.equal(table, leaf[:T]):
        return None
    if rows >= T and torch.equal(table, 2 * leaf[:T]):
        return "pos-added-twice"
    if not table[0].any() and any(torch.equal(table[1:], one[: T - 1]) for one in (leaf[1:], leaf)):
        return "cls-without-position"
    shifted = [leaf.roll(1, 0), leaf.roll(-1, 0), leaf[1:]]
    if any(len(one) >= T and torch.equal(table, one[:T]) for one in shifted):
        return "pos-off-by-one"
    doubled = [torch.cat([leaf[:1], leaf]), torch.cat([leaf, leaf[-1:]])]
    if rows < T and any(torch.equal(table, one[:T]) for one in doubled):
        return "pos-before-cls-row-mismatch"
    return None


def fixed_formula(table: Tensor, grid: tuple[int, int]) -> str | None:
    """Which known wrong formula made this table of sines and cosines; "" for a right one, else None.

    One factor for all of it is no mistake; beside that its largest number is the cosine of 0. In two
    dimensions, half of the width for each, the class token has zeros by convention.
    """
    found = _formula(table, grid)
    unscaled = _formula(table / table.abs().max(), grid) if found == _OTHER else found
    return found if unscaled is None else unscaled


def _formula(table: Tensor, grid: tuple[int, int]) -> str | None:
    T, D = table.shape
    patches = table if table[0].any() else table[1:]
    if D % 2:
        return None
    in_two = _of_rows_and_columns(table[-grid[0] * grid[1] :], grid)
    interleaved, halves = _sinusoids(T, D)
    has_no_token = grid[0] * grid[1] == T
    of_patches_alone = has_no_token and equal(table, _sinusoids(T + 1, D)[0][1:], TABLE)
    if in_two == 1.0 or equal(table, interleaved, TABLE) or of_patches_alone:
        return _RIGHT
    of_patches = (rows for kind in (interleaved, halves) for rows in (kind[1:], kind[:-1]))
    if not table[0].any() and any(equal(table[1:], one, TABLE) for one in of_patches):
        return "cls-without-position"
    if not (_is_sinusoid(patches) or max(in_two, _share(table, interleaved), _waves(patches)) >= _MEANT):
        return None
    return _REORDERED if _has_columns(table, interleaved) == 1.0 else _OTHER


def _sinusoids(T: int, D: int) -> tuple[Tensor, Tensor]:
    """Sines and cosines in turn, and all sines before all cosines."""
    angles = torch.arange(T, dtype=torch.float64)[:, None] * _BASE ** (-torch.arange(0, D, 2) / D)
    pair = [angles.sin(), angles.cos()]
    return torch.stack(pair, 2).flatten(1), torch.cat(pair, 1)


def _of_rows_and_columns(table: Tensor, grid: tuple[int, int]) -> float:
    """The share of its columns that are sines and cosines of a patch's row and of its column, in any order.

    He et al. 2022, arXiv:2111.06377, and Beyer et al. 2022, arXiv:2205.01580, which ends at 1 / base.
    """
    quarter = table.shape[1] // 4
    if table.shape[1] % 4 or len(table) != grid[0] * grid[1]:
        return 0.0
    places = torch.cartesian_prod(*(torch.arange(size, dtype=torch.float64) for size in grid))
    shares = []
    for steps in (quarter, max(quarter - 1, 1)):
        frequencies = _BASE ** (-torch.arange(quarter, dtype=torch.float64) / steps)
        angles = (places[:, :, None] * frequencies).flatten(1)
        columns = torch.cat([angles.sin(), angles.cos()], 1)
        shares.append(_has_columns(table, columns))
    return max(shares)


def _has_columns(table: Tensor, formula: Tensor) -> float:
    """The share of columns that each has of the other's, in any order; the smaller of both."""
    near = torch.cdist(formula.T, table.T, p=torch.inf) < TABLE
    return min(float(near.any(axis).double().mean()) for axis in (0, 1))


def _share(table: Tensor, formula: Tensor) -> float:
    """The share of its columns that are those of the formula."""
    return float(((table - formula).abs().amax(0) < TABLE).double().mean())


def _waves(table: Tensor) -> float:
    """The share of columns, but straight ones, that are samples of a wave: c[p-1] + c[p+1] = 2 cos(w) c[p].

    Any other sines and cosines are such, and neither learned nor random numbers are.
    """
    if len(table) < _SAMPLES:
        return 0.0
    middle, around = table[1:-1], table[:-2] + table[2:]
    factor = (middle * around).sum(0) / middle.square().sum(0).clamp_min(_CURVED)
    is_curved = (around - 2 * middle).abs().amax(0) > _CURVED
    is_wave = ((around - factor * middle).abs().amax(0) < _OFF) & (factor.abs() <= 2)
    return float((is_wave & is_curved).sum() / is_curved.sum().clamp_min(1))


def _is_sinusoid(table: Tensor) -> bool:
    """Says whether row 0 holds as many sines as cosines of position 0."""
    T, D = table.shape
    zeros, ones = int((table[0] == 0).sum()), int((table[0] == 1).sum())
    return T > 1 and zeros == ones == D / 2
