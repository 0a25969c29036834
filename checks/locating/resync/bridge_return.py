"""Going on after a block whose last sum or norm no known equation explains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....reference import equations as eq
from ..context import Predict
from ..search.nearness import same
from ..search.norms import BatchNorm, Norm
from ..search.relations import measured
from ..steps.mlp import Mlp
from ..walk import Walk, applied, combine, right_of, stage_of
from .taken import (
    Taken,
    earlier_stages,
    leads_on,
    likely_norm,
    operand,
    sequences,
    settle_odd,
    until_next_attention,
)


@dataclass(frozen=True)
class OddReturn:
    """What the pass goes on with after the MLP: the sum in record ``taken``, or the ``norm`` of it."""

    taken: Taken
    sum: Predict
    norm: Norm | BatchNorm | None
    closes: bool  # does the block end in a norm, right or wrong?

    @property
    def output(self) -> Predict:
        return self.sum if self.norm is None else applied(self.norm, self.sum)


def find_odd_return(walk: Walk, mlp: Mlp, known_sum: bool) -> OddReturn | None:
    """The first tensor behind the MLP that a later stage reads.

    ``known_sum`` says that a sum was found which only the norm at the end of the block explains.
    """
    T, D = walk.context.stage("positioned_tokens").shape[1:]
    output = walk.find(mlp.output(walk.context))
    for taken, predict in sequences(walk, D, T, until_next_attention(walk)):
        if output is not None and taken.record > output.record:
            for norm in _own_norms(walk, predict, taken):
                return OddReturn(taken, predict, norm, closes=True)
            if leads_on(walk, predict(walk.context), taken.record - 1):
                return OddReturn(taken, predict, None, known_sum or walk.architecture == "report")
    return None


def _own_norms(walk: Walk, sum_: Predict, taken: Taken) -> Iterator[Norm | BatchNorm]:
    """Norms of the sum whose result is normed again, or read on where every block ends in one."""
    if walk.architecture == "pre-norm":
        return
    for norm, normed, found in walk.parameters.norms(sum_(walk.context), taken.record - 1):
        after = found.record - 1
        again = (one for _, one, _ in walk.parameters.norms(normed, after))
        read = any(next(walk.parameters.linears(one, after), None) for one in again)
        if read or (walk.architecture == "report" and leads_on(walk, normed, after)):
            yield norm


def settle_odd_return(walk: Walk, number: int, odd: OddReturn, raw: Predict) -> None:
    """S19, and S18 where something else was added in its place; ``raw`` is the sum after attention."""
    m = stage_of("mlp_output", number)
    added = operand(walk, odd.taken, m, walk.context.stage("positioned_tokens").shape[-1], raw)
    if added is not None:
        before = walk.steps.pop()
        settle_odd(walk, "mlp_output", number, added, before.right)
    residual = stage_of("post_attention_norm", number) if odd.closes else raw
    right_sum: Predict = combine(eq.residual, residual, m)
    right = _right(walk, odd, right_sum)
    found = walk.find(odd.output(walk.context))
    if same(odd.output(walk.context), right(walk.context)):
        walk.settle("post_mlp_norm", number, odd.output, found, right=right)
    else:
        message = None if odd.norm is None else _before_norm(walk, number, odd, right_sum)
        settle_odd(walk, "post_mlp_norm", number, odd.output, right, message)
    if odd.norm is not None:
        walk.roles[f"block{number}.norm3"] = odd.norm
    if walk.architecture is None:
        walk.architecture = "report" if odd.closes else "pre-norm"


def _right(walk: Walk, odd: OddReturn, sum_: Predict) -> Predict:
    """S19 as it should be made of the right sum: its norm, or the one that is likely its norm."""
    if not odd.closes:
        return sum_
    norm = odd.norm or likely_norm(walk, sum_(walk.context), odd.output(walk.context), walk.position)
    return sum_ if norm is None else right_of(norm, sum_)


def _before_norm(walk: Walk, number: int, odd: OddReturn, right: Predict) -> str:
    student = odd.sum(walk.context)
    earlier = earlier_stages(walk, "post_mlp_norm", number, student)
    return measured(student, right(walk.context), "B T D", earlier, part="Before its norm")
