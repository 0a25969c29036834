"""How many heads and blocks a model has where its code does not say so by known names: as many as attend."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from ..tracing.dispatch_mode import Mode
from .build_attempt import BuildAttempt
from .calls.blueprint import Builder
from .effort import taken_apart
from .probing import as_given

_aten = torch.ops.aten
_NORMALISED = (_aten._softmax.default, _aten._safe_softmax.default, _aten.exp.default)
_PRODUCTS = (_aten.mm.default, _aten.bmm.default)


class _Attended(Mode):  # type: ignore[no-untyped-call]  # torch's base class has no annotations
    """Counts attention probabilities and the operations that give them, by the number of tokens.

    ``widths`` are those of the queries that are multiplied by keys.
    """

    def __init__(self) -> None:
        super().__init__()
        self.numbers: Counter[int] = Counter()
        self.operations: Counter[int] = Counter()
        self.widths: defaultdict[int, set[int]] = defaultdict(set)

    def run(self, func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if func in _NORMALISED and args[0].dim() > 1:
            self.numbers[args[0].shape[-1]] += args[0].numel()
            self.operations[args[0].shape[-1]] += 1
        elif func in _PRODUCTS and args[0].shape[-2] == args[1].shape[-1]:
            self.widths[args[1].shape[-1]].add(args[0].shape[-1])
        return func(*args, **kwargs)


def attending(builder: Builder, attempt: BuildAttempt) -> dict[str, int]:
    """The number of heads, of blocks, or both, where neither an argument nor an attribute tells it.

    Of blocks, also where modules tell another one: halves of blocks are as many again. What is no whole
    number is left out.
    """
    known = {name: attempt.seen.get(name, 0) for name in ("heads", "depth")}
    known |= {name: getattr(attempt.sizes, name) for name in known.keys() & attempt.claimed}
    if all(known.values()) and "depth" in attempt.claimed:
        return {}
    sizes: Any = attempt.sizes
    for counted in _counted(builder, attempt):
        of_all, heads = counted.of_all, known["heads"] or counted.heads
        others = of_all // heads if heads else counted.operations
        depth = others if heads and "depth" not in attempt.claimed else known["depth"] or others
        if depth and of_all % depth == 0 and sizes.embed_dim % (of_all // depth) == 0:
            found = {"depth": depth, "heads": of_all // depth}
            return {name: found[name] for name in found if known[name] != found[name]}
    return {}


def attends(builder: Builder, attempt: BuildAttempt) -> bool:
    """Do as many tokens attend to each other as there are patches, and perhaps one more?"""
    return any(_counted(builder, attempt))


def counts_head_dim(builder: Builder, attempt: BuildAttempt) -> bool:
    """Are there as many heads as each was meant to be wide?"""
    sizes: Any = attempt.sizes
    depth = sizes.depth if "depth" in attempt.claimed else attempt.seen.get("depth", 0)
    counted = {one.of_all / depth for one in _counted(builder, attempt)} if depth else set()
    return sizes.heads != sizes.head_dim and sizes.head_dim in counted and sizes.heads not in counted


class Count(NamedTuple):
    """How many heads attend in all blocks, in how many operations, and how many of their width there are."""

    of_all: int
    operations: int
    heads: int


def _counted(builder: Builder, attempt: BuildAttempt) -> Iterator[Count]:
    """With a class token, or without.

    Every head of every block has T² probabilities for each image.
    """
    sizes: Any = attempt.sizes
    try:
        model = builder.build_to_try(attempt.assignment, sizes).eval()
    except (Exception, SystemExit):
        return
    yield from counted_in(model, as_given(sizes.input(0), torch.get_default_dtype()), sizes)


def counted_in(model: nn.Module, given: Tensor, sizes: Any) -> Iterator[Count]:
    """What attends in a pass; nothing where that raises."""
    try:
        with torch.no_grad(), taken_apart(), _Attended() as attended:
            model(given)
    except (Exception, SystemExit):
        return
    for tokens in (sizes.tokens, sizes.tokens - 1):
        of_all, rest = divmod(attended.numbers[tokens], sizes.batch * tokens**2)
        if of_all and not rest:
            heads = [sizes.embed_dim // one for one in attended.widths[tokens] if not sizes.embed_dim % one]
            yield Count(of_all, attended.operations[tokens], heads[0] if len(heads) == 1 else 0)
