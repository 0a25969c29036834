"""From S08 of the first block to the end: block after block, then the readout."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from torch import Tensor

from ...submissions.host.trace import Use
from .anatomy import Input, anatomy_of
from .best_first import Node, Option, later
from .context import Context, Predict
from .search.norms import IN_BLOCKS, Norm, is_in_blocks
from .steps import Step
from .walk import Walk, applied, stage_of
from .wiring.blocks import BlockKind
from .wiring.graph_tensors import settle_unknown
from .wiring.incomplete import incomplete
from .wiring.operators import Moved
from .wiring.rows import Row
from .wiring.unknown import Unknown, unknown_price, unknowns

_MOST = 64  # blocks
_FOREIGN = 0.02  # the price of a kind of block that is not accepted
_FOUND = 0.3  # the price of each finding of the readout
_READ_OUT = 0.05  # the price of ending here: a block that goes on comes first


ReadOut = Callable[[Walk, Input], Iterable[Option]]


def following(walk: Walk) -> Iterator[Option]:
    """Another block, or the readout."""
    yield from _blocks(walk, following)
    if not walk.blocks and not walk.ends_early and walk.steps and walk.steps[-1].explained:
        yield later(unknown_price(walk), _other_tokens).before(following)
    yield from _readouts(walk, anatomy_of(walk.family).read_out)


def stacked(read_out: ReadOut) -> Node:
    """Blocks alone, of which the first reads what the pass is given; ``read_out`` has the ways on."""

    def node(walk: Walk) -> Iterator[Option]:
        yield from _blocks(walk, node)
        yield from _readouts(walk, read_out)

    return node


def _blocks(walk: Walk, then: Node) -> Iterator[Option]:
    x = sequence(walk)
    walk.ahead = _ahead(walk)
    kinds = [one for one in _kinds(walk) if walk.architecture in (None, one.name)]
    if walk.blocks < _MOST:
        for predict, right, ids, price in _inputs(walk, x):
            sign = f"input: {' '.join(ids)}" if ids else ""
            # what the first maps read may be normed by the first block, or before it
            either = "extra-norm-before-encoder" in ids
            yield Option(price, _begin(predict, right, ids), (_rows(kinds, 0), then), sign, either)


def _ahead(walk: Walk) -> tuple[str, int]:
    """Another block's input, or what comes behind the last."""
    if walk.number <= walk.sizes.depth:
        return "block_input", walk.number
    keys = [stage.key for stage in walk.family.stages]
    return keys[keys.index("last_block_output") + 1], 0


def _readouts(walk: Walk, read_out: ReadOut) -> Iterator[Option]:
    early = 1.1 if walk.blocks < walk.sizes.depth else 0.0  # which is a mistake
    inputs = _other_sequences(walk)
    if walk.blocks:
        inputs.insert(0, ((sequence(walk), ()), _READ_OUT + early))
    count = _count(len(walk.steps))
    for read, price in inputs:
        for option in read_out(walk, read):
            yield replace(option, price=option.price + price).before(count)


def one_block(walk: Walk) -> Iterator[Option]:
    """A block alone, which reads what the pass is given."""
    x = sequence(walk)
    yield Option(0.0, _begin(x, x, ()), (_rows(_kinds(walk), 0),))


def _kinds(walk: Walk) -> list[BlockKind]:
    """Those that are accepted are as likely as any, and rather meant where two fit as well."""
    kinds, more = anatomy_of(walk.family).blocks, _FOREIGN * bool(walk.accepted)
    whole = [replace(one, price=0.0 if one.name in walk.accepted else one.price + more) for one in kinds]
    if walk.ends_early:  # what was to come is not left out
        return whole
    return [*whole, *(less for one in whole for less in incomplete(one))]


def _count(steps: int) -> Node:
    """The price of what was found after so many steps."""
    return lambda walk: (
        Option(_FOUND * sum(len(one.findings) for one in walk.steps[steps:]), lambda _: True),
    )


def _other_tokens(walk: Walk) -> Iterator[Option]:
    """S07 was computed, and the pass goes on with something else."""
    right = sequence(walk)
    for unknown in unknowns(walk, "positioned_tokens", right):
        yield Option(unknown.price, partial(_replace_tokens, unknown=unknown))


def _replace_tokens(walk: Walk, unknown: Unknown) -> bool:
    step = walk.steps.pop()
    settle_unknown(walk, step.key, 0, unknown.predict, step.predict, unknown.told)
    return True


def sequence(walk: Walk) -> Predict:
    """What the next block reads."""
    return stage_of("block_output", walk.blocks) if walk.blocks else stage_of("positioned_tokens", 0)


def _inputs(walk: Walk, x: Predict) -> Iterator[tuple[Predict, Predict, tuple[str, ...], float]]:
    read: list[tuple[Predict, tuple[str, ...], float]] = [(x, (), 0.0)]
    if walk.number == 1:
        norms = walk.parameters.norms(x(walk.context), walk.position - 1)
        prices = {norm: 0.3 + IN_BLOCKS * is_in_blocks(walk.trace, norm) for norm, _, _ in norms}
        read += [(applied(one, x), ("extra-norm-before-encoder",), price) for one, price in prices.items()]
    yield from ((one, x, ids, price) for one, ids, price in read)
    if walk.number == 1 and ("tokens", 0) in walk.context.stages:
        yield stage_of("tokens", 0), x, ("block-reads-stale-tokens",), 1.0
    table = walk.roles.get("positions")
    if isinstance(table, Use):
        once_more = 0.05 * (walk.number == 1)  # which are positions added twice, if in no other block
        for one, ids, price in read:
            yield _with_positions(one, table), x, (*ids, "pos-every-block"), price + 1.0 + once_more
    if walk.number > 1:
        yield stage_of("block_input", 1), x, ("every-block-reads-first-input",), 1.0


def _begin(x: Predict, right: Predict, ids: tuple[str, ...]) -> Callable[[Walk], bool]:
    def take(walk: Walk) -> bool:
        # S21 is where blocks are first put together
        blame = "second_block_output" if walk.number > 1 else None
        found = walk.places.find(x(walk.context))
        if found is None and ids:
            return False
        walk.made.clear()
        walk.settle("block_input", walk.number, x, found, right=right, ids=ids, blame=blame)
        walk.began["block_input", walk.number] = walk.position  # whatever it reads, it runs later
        return True

    return take


@dataclass(frozen=True)
class _Rows:
    """Row ``at`` of each kind; what the kinds have in common is explained once."""

    names: tuple[str, ...]
    kinds: Sequence[BlockKind] = field(compare=False)
    at: int

    def __call__(self, walk: Walk) -> Iterator[Option]:
        kinds, at = self.kinds, self.at
        if at < len(kinds[0].rows):
            next_row = kinds[0].rows[at]
            if walk.number <= walk.sizes.depth:  # or what is looked for is rather what is read out
                walk.ahead = next_row.stage or next_row.key, walk.number
        groups: dict[Row | None, list[BlockKind]] = {}
        for kind in kinds:
            groups.setdefault(kind.rows[at] if at < len(kind.rows) else None, []).append(kind)
        for row, group in groups.items():
            if row is None:
                yield from _ended(group[0])(walk)
            else:
                more = min(one.price for one in group) - min(one.price for one in kinds)
                for option in row.node(walk):
                    yield replace(option, price=option.price + more).before(_rows(group, at + 1))


def _rows(kinds: Sequence[BlockKind], at: int) -> _Rows:
    return _Rows(tuple(one.name + one.without for one in kinds), kinds, at)


def _ended(kind: BlockKind) -> Callable[[Walk], Iterator[Option]]:
    def take(walk: Walk) -> bool:
        walk.position = max(walk.position, walk.began["block_output", walk.number])
        _joined(walk, kind.moved)
        walk.blocks, walk.architecture, walk.normed = walk.number, kind.name, kind.normed
        return True

    return lambda walk: iter((Option(0.0, take),))


def _joined(walk: Walk, moved: tuple[Moved, ...]) -> None:
    """What was moved from one stage to a later one is said of the first."""
    own = {step.key: at for at, step in enumerate(walk.steps) if step.block == walk.number}
    for one in (one for one in moved if {one.first, one.second} <= own.keys()):
        before, after = (walk.steps[own[key]] for key in (one.first, one.second))
        if _found(before, one.missing) and _found(after, one.extra):
            walk.steps[own[one.first]] = before.renamed(one.missing, one.id)
            walk.steps[own[one.second]] = after.renamed(one.extra, one.id)
    norms = [walk.roles.get(f"block{walk.number}.norm{one}") for one in (1, 2, 3)]
    if _same(walk, *norms[:2]):
        walk.note_on("post_attention_norm", walk.number, "norm1-reused-for-norm2")
    elif _same(walk, norms[0], norms[2]) or _same(walk, norms[1], norms[2]):
        walk.note_on("post_mlp_norm", walk.number, "norm-reused-after-mlp")


def about_begun(walk: Walk) -> None:
    """What is to be said of a block that the pass ended in."""
    if any(step.block == walk.number for step in walk.steps):
        kinds = [one for one in anatomy_of(walk.family).blocks if walk.architecture in (None, one.name)]
        _joined(walk, tuple(dict.fromkeys(moved for one in kinds for moved in one.moved)))


def _same(walk: Walk, one: object, other: object) -> bool:
    """Are both norms, of one layer that is used twice?"""
    if not isinstance(one, Norm) or not isinstance(other, Norm):
        return False
    return one.weight != other.weight and walk.parameters.same(one, other)


def _found(step: Step, id: str) -> bool:
    return any(one.id == id for one in step.findings)


def _with_positions(x: Predict, table: Use) -> Predict:
    def predict(context: Context) -> Tensor:
        tokens, positions = x(context), context.use(table)
        rows = positions.reshape(-1, tokens.shape[-1])
        return tokens + rows if len(rows) in (1, tokens.shape[1]) else tokens

    return predict


def _other_sequences(walk: Walk) -> list[tuple[Input, float]]:
    """What may be read out by mistake, and its price."""
    alone = walk.blocks < 2 or "every-block-reads-first-input" in walk.ids
    first = "block-result-discarded" if alone else "readout-before-encoder"
    earlier = range(walk.blocks - 1, 0, -1)
    return [
        ((stage_of("positioned_tokens", 0), (first,)), 1.2),
        *(((stage_of("block_output", number), ("depth-off-by-one",)), 1.2) for number in earlier),
    ]
