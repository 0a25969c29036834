"""Which parameters turn one tensor into another that the pass computed: linear maps and norms.

Candidates are what the pass consumed, in the order of use, as it was consumed (a slice of a packed matrix is
a candidate of its own). For each, two elements of the output of one token are predicted, for all candidates
at once, and only where both are somewhere in the trace is the whole tensor computed and compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import permutations
from math import prod

import numpy as np
import torch
from torch import Tensor

from ....submissions.host.trace import Reference, Use, Value
from ..comparing import Array, any_bits
from ..context import Context
from ..forms import NORMS, Form
from .linear_maps import LinearMap as LinearMap
from .linear_maps import Maps, as_matrix, distance, forms
from .norms import Affine, BatchNorm, affines, batch_norms, epsilons, tokens_normed
from .norms import Norm as Norm
from .places import Found, Places

_BIASES_TRIED = 6
_BIAS_WITHIN = 8  # records between a product and the addition of its bias
_BIAS_BEFORE = 3  # records by which a bias may be added to something else first
_UNSEEN = 40  # maps whose results are in no record that are tried


class Parameters:
    """Finds maps between tensors of one trace."""

    def __init__(self, context: Context, places: Places, uses: Sequence[Use]) -> None:
        self._context = context
        self._all = uses
        self._places = places
        self._maps: dict[int, Maps] = {}
        self._affines: dict[int, tuple[list[Affine], Array]] = {}

    @cached_property
    def _epsilons(self) -> tuple[float, ...]:
        return epsilons(self._context.trace)

    @cached_property
    def uses(self) -> dict[Use, Reference]:
        """Every consumption of a floating-point parameter, in order, and what it reads."""
        trace = self._context.trace
        references = {use: trace.used(use) for use in self._all if not self._again(use.record)}
        return {use: one for use, one in references.items() if _holds_numbers(trace.value(one), one)}

    @cached_property
    def merged(self) -> dict[Use, Reference]:
        """Parameters that met others before the image: a product of two weights, say, is used in their place.

        They come as consumed, then whole where slices of them were.
        """
        trace = self._context.trace
        ahead = sorted(set(trace.all_uses) - set(self._all))
        uses = {use: trace.used(use) for use in ahead}
        whole = {use._replace(whole=True): use for use, one in uses.items() if one.kind == "leaf"}
        seen: dict[Reference, Use] = {}
        for use, reference in (*uses.items(), *((use, trace.used(use)) for use in whole)):
            value = trace.value(reference)
            if _holds_numbers(value, reference) and value.kind != "tensor":
                seen.setdefault(reference, use)
        return {use: reference for reference, use in seen.items() if use not in self.uses}

    def _again(self, number: int) -> bool:
        """Says whether a record is a further result of the operation that made the one before."""
        before, record = self._context.trace.records[number - 1 : number + 1]
        return record.is_made_with(before)

    def of_size(self, count: int, after: int = -1, within: int | None = None) -> list[Use]:
        last = len(self._context.trace.records) if within is None else after + within
        return [
            use
            for use, reference in self.uses.items()
            if after < use.record <= last and _numel(reference.shape) == count
        ]

    def merged_of_size(self, count: int) -> list[Use]:
        return [use for use, reference in self.merged.items() if _numel(reference.shape) == count]

    def linears(
        self, x: Tensor, after: int, outputs: int | None = None, plus: Tensor | None = None
    ) -> Iterator[tuple[LinearMap, Tensor, Found]]:
        """Every linear map of ``x`` (…, n) whose whole result is in the trace, in order of use, once each.

        With ``plus``, every one whose sum with that is there.
        """
        maps = self._maps_of(x.shape[-1])
        if not maps.candidates:
            return
        row = x[_middle_index(x)].detach().numpy()
        with any_bits():
            values = (maps.rows @ row)[:, None] + maps.shifts  # (n, biases, 2)
            if plus is not None:
                values = values + maps.picked(plus[_middle_index(plus)].detach().numpy())[:, None]
            scales = np.linalg.norm(row) * np.linalg.norm(maps.rows, axis=(1, 2)) * 1e-3
        flat = values.reshape(-1, 2)
        there = self._places.have(flat, np.repeat(scales, values.shape[1])).reshape(values.shape[:2])
        seen = set()
        for number in np.flatnonzero(there.any(1)).tolist():
            use, form = maps.candidates[number]
            key = (self._reference(use), form)
            early = use.record <= after and use in self.uses
            if early or key in seen or outputs not in (None, int(maps.outputs[number])):
                continue
            biases = [maps.biases[number][one] for one in np.flatnonzero(there[number]).tolist()]
            found = self._linear(x, use, form, biases, after, plus)
            same_map = found is not None and (key[0], found[2].record)  # in another form of its axes
            if found and same_map not in seen:
                seen |= {key, same_map}
                yield found

    def _linear(
        self,
        x: Tensor,
        use: Use,
        form: str,
        biases: Sequence[Use | None],
        after: int,
        plus: Tensor | None,
    ) -> tuple[LinearMap, Tensor, Found] | None:
        for bias in biases:
            candidate = LinearMap(use, form, bias)
            result = candidate(self._context, x)
            if plus is not None:
                found = self._places.find(plus + result, after) if plus.shape == result.shape else None
            else:
                shape = self._reference(use).shape
                found = self._places.find(result, after) or self._by_heads(result, shape, after)
            if found:
                return candidate, result, found
        return None

    def _reference(self, use: Use) -> Reference:
        return self.uses[use] if use in self.uses else self.merged[use]

    def unseen(self, inputs: int, heads: int, after: int) -> Iterator[tuple[LinearMap, int]]:
        """Maps that the pass may go on with, nearest first, and the number of their outputs a head."""
        maps = self._maps_of(inputs)
        every = zip(maps.candidates, maps.biases, maps.outputs.tolist(), strict=True)
        rows = [row for row in every if row[2] % heads == 0]
        next_ = sorted((row for row in rows if row[0][0].record > after), key=lambda row: row[0][0])
        ahead = [row for row in rows if row[0][0].record <= after and row[0][0] in self.merged]
        for (use, form), biases, outputs in (*next_[:_UNSEEN], *ahead[:_UNSEEN]):
            for bias in biases:
                yield LinearMap(use, form, bias), outputs // heads

    def _by_heads(self, result: Tensor, shape: tuple[int, ...], after: int) -> Found | None:
        """A stack of matrices, one a head, gives its outputs head by head."""
        if len(shape) != 3 or result.dim() != 3 or result.shape[-1] % shape[0]:
            return None
        return self._places.find(result.reshape(*result.shape[:2], shape[0], -1).transpose(1, 2), after)

    def _maps_of(self, inputs: int) -> Maps:
        if inputs not in self._maps:
            self._maps[inputs] = self._collect(inputs)
        return self._maps[inputs]

    def _collect(self, inputs: int) -> Maps:
        candidates, biases, rows, shifts, outputs = [], [], [], [], []
        for use, reference in (*self.merged.items(), *self.uses.items()):
            for form in forms(reference.shape, inputs):
                matrix = as_matrix(self._context.use(use), form, inputs)
                picks = [matrix.shape[0] // 2, matrix.shape[0] - 1]
                near = self._biases(matrix.shape[0], use)
                candidates.append((use, form))
                biases.append([*near, None])
                rows.append(matrix[picks].numpy())
                shifts.append(self._shifts(near, picks))
                outputs.append(matrix.shape[0])
        stacked = np.array(rows) if rows else np.empty((0, 2, inputs))
        return Maps(candidates, biases, stacked, np.array(shifts), np.array(outputs, dtype=np.int64))

    def _shifts(self, biases: Sequence[Use], picks: list[int]) -> Array:
        shifts = np.full((_BIASES_TRIED + 1, 2), np.nan)
        for row, bias in enumerate(biases):
            shifts[row] = self._context.use(bias).reshape(-1)[picks].numpy()
        shifts[len(biases)] = 0.0
        return shifts

    def _biases(self, outputs: int, weight: Use) -> list[Use]:
        if outputs == 1:
            return []
        first = weight.record - _BIAS_BEFORE - 1
        near = [*self.of_size(outputs, first, _BIAS_BEFORE + _BIAS_WITHIN), *self.merged_of_size(outputs)]
        near.sort(key=lambda use: distance(weight, use))
        return [one for one in near if one != weight][:_BIASES_TRIED]

    def norms(
        self, x: Tensor, after: int, table: Sequence[Form] = NORMS[:1]
    ) -> Iterator[tuple[Norm | BatchNorm, Tensor, Found]]:
        """Every norm of ``x`` (…, D) in the trace, next used weights first, affine before plain."""
        index, picks = _middle_index(x), [x.shape[-1] // 2, x.shape[-1] - 1]
        kinds = [(form, eps) for form in table for eps in self._epsilons]
        plain = np.concatenate(
            [tokens_normed(form, x, index, self._epsilons)[:, picks].numpy() for form in table]
        )
        pairs, numbers = self._affines_of(x.shape[-1], picks)
        if x.dim() == 3 and any(form.whole for form in table):  # each token may have its own
            first = index[1] * x.shape[-1]
            more, others = self._affines_of(prod(x.shape[1:]), [first + one for one in picks])
            pairs, numbers = [*pairs, *more], np.concatenate([numbers, others])
        with any_bits():
            values = plain[None] * numbers[:, :1] + numbers[:, 1:]  # (pairs, kinds, 2)
        there = self._places.have(values.reshape(-1, 2), np.ones(values.shape[0] * values.shape[1]))
        for pair, kind in zip(*np.nonzero(there.reshape(values.shape[:2])), strict=True):
            weight, bias = pairs[pair]
            if weight is None or weight.record > after:
                form, eps = kinds[kind]
                found = list(self._checked(Norm(weight, bias, eps, form), x, after))
                if found and weight is None:
                    yield from self._folded(found[0], x, after)
                yield from found
        if any(form.id == "batchnorm-instead-of-layernorm" for form in table):
            yield from self.batch_norms(x, after)

    def batch_norms(self, x: Tensor, after: int) -> Iterator[tuple[Norm | BatchNorm, Tensor, Found]]:
        """Every batch norm of ``x`` (…, D) in the trace, of which the library's are known."""
        for norm in batch_norms(self._context.trace, after, x.shape[-1]):
            yield from self._checked(norm, x, after)

    def _checked(
        self, norm: Norm | BatchNorm, x: Tensor, after: int
    ) -> Iterator[tuple[Norm | BatchNorm, Tensor, Found]]:
        result = norm(self._context, x)
        found = self._places.find(result, after)
        if found:
            yield norm, result, found

    def _folded(
        self, plain: tuple[Norm | BatchNorm, Tensor, Found], x: Tensor, after: int
    ) -> Iterator[tuple[Norm | BatchNorm, Tensor, Found]]:
        """The norms whose weight and bias were merged with the linear map that follows."""
        norm, _, place = plain
        for weight, bias in permutations(self.merged_of_size(x.shape[-1]), 2):
            if isinstance(norm, Norm) and abs(weight.record - bias.record) <= _BIAS_WITHIN:
                whole = replace(norm, weight=weight, bias=bias)
                result = whole(self._context, x)
                if next(self.linears(result, after), None):
                    yield whole, result, place

    def _affines_of(self, width: int, picks: list[int]) -> tuple[list[Affine], Array]:
        if width not in self._affines:
            pairs = list(affines(self.of_size(width)))
            one, none = np.ones(2), np.zeros(2)
            numbers = [
                (self._element(weight, picks, one), self._element(bias, picks, none))
                for weight, bias in pairs
            ]
            self._affines[width] = pairs, np.array(numbers)
        return self._affines[width]

    def _element(self, use: Use | None, picks: list[int], otherwise: Array) -> Array:
        return otherwise if use is None else self._context.use(use).reshape(-1)[picks].numpy()

    def leaf(self, use: Use) -> tuple[str, int, int]:
        """What a use reads, and from where on: weights of several blocks may be kept in one parameter."""
        reference = self._context.trace.used(use)
        return reference.kind, reference.number, reference.offset

    def same(self, first: Norm | BatchNorm, second: Norm | BatchNorm) -> bool:
        """Says whether two norms share their weight."""
        if first.weight is None or second.weight is None:
            return False
        return self.leaf(first.weight) == self.leaf(second.weight)

    def times_used(self, norm: Norm | BatchNorm) -> int:
        """On how many tensors the pass uses the norm's weight; one operation may have several results."""
        if norm.weight is None:
            return 0
        records, leaf = self._context.trace.records, self.leaf(norm.weight)
        return len({records[use.record].inputs for use in self.uses if self.leaf(use) == leaf})


def _middle_index(x: Tensor) -> tuple[int, ...]:
    """One token: not of the first image, not the class token."""
    return tuple(min(1, size - 1) if axis == 0 else size // 2 for axis, size in enumerate(x.shape[:-1]))


def _holds_numbers(value: Value, reference: Reference) -> bool:
    """Is it of a float type, and not empty?"""
    return value.cells is not None and "float" in value.dtype and _numel(reference.shape) > 0


def _numel(shape: Sequence[int]) -> int:
    return int(torch.Size(shape).numel())
