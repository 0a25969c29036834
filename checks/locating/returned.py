"""S17 to S20: the MLP's stages, its residual, the norm after it if there is one, what the block returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from ...reference import equations as eq
from .context import Predict
from .forms import ACTIVATIONS, MLP_SUMS, NORMS, Form
from .resync.bridge_return import find_odd_return, settle_odd_return
from .resync.taken import leads_on, settle_odd
from .search.norms import BatchNorm, Norm
from .search.places import Found
from .steps.mlp import Mlp, find_added_mlp, turned
from .walk import Walk, applied, combine, right_of, stage_of

_SUM_WITHOUT_NORM = ("residual-mlp-from-normed",)


@dataclass(frozen=True)
class Return:
    """One way from S18 to what the block returns."""

    mlp_output: Predict
    form: Form
    sum: Predict
    norm: Norm | BatchNorm | None
    ids: tuple[str, ...]
    price: float
    found: Found

    @property
    def output(self) -> Predict:
        return self.sum if self.norm is None else applied(self.norm, self.sum)


def settle_output(walk: Walk, number: int, mlp: Mlp, raw: Predict, has_norm1: bool) -> bool:
    """Settles S17 to S20; False where no known sum is in the trace."""
    returns = sorted(_returns(walk, number, mlp, raw, has_norm1), key=lambda one: one.price)
    choice = _that_goes_on(walk, returns)
    added = find_added_mlp(walk, mlp.input, raw, walk.position - 1) if choice is None else None
    if added is not None:
        others = sorted(_returns(walk, number, added, raw, has_norm1), key=lambda one: one.price)
        choice = _that_goes_on(walk, others)
        mlp, returns = (mlp, returns) if choice is None else (added, others)
    best = returns[0] if returns else None
    branch = (
        choice is not None and best is not None and choice.ids == ("residual-mlp-missing",) and not best.ids
    )
    chosen = best if branch or choice is None else choice
    if choice is None and (best is None or best.ids):
        if _settle_odd(walk, number, mlp, raw, best):
            return True
        # in a pass that stopped, what would be wrong with the best may be what was still to come
        chosen = best if walk.trace.error is None else None
    settle_mlp(walk, number, mlp, chosen)
    if chosen is None:
        walk.stuck("post_mlp_norm", number)
        return False
    _settle_returned(walk, number, chosen, raw)
    _settle_block_output(walk, number, choice if branch else None)
    walk.blocks = number
    return True


def _settle_odd(walk: Walk, number: int, mlp: Mlp, raw: Predict, best: Return | None) -> bool:
    """Settles S17 to S20 around a sum or norm that no known equation gives, if something is read on."""
    if walk.trace.error is not None:
        return False
    odd = find_odd_return(walk, mlp, best is not None and best.ids == _SUM_WITHOUT_NORM)
    if odd is None:
        return False
    settle_mlp(walk, number, mlp, None)
    settle_odd_return(walk, number, odd, raw)
    _settle_block_output(walk, number, None)
    walk.blocks = number
    return True


def _that_goes_on(walk: Walk, returns: list[Return]) -> Return | None:
    """The first that something later reads, through a right norm if that can be."""
    for wrong_norm in (False, True):
        for choice in returns:
            if _goes_on(walk, choice, wrong_norm):
                return choice
    return None


def _settle_block_output(walk: Walk, number: int, branch: Return | None) -> None:
    """S20 is S19, unless the sum was computed and the branch returned."""
    s19 = stage_of("post_mlp_norm", number)
    predict, ids = (s19, []) if branch is None else (branch.mlp_output, ["block-returns-branch"])
    found = walk.places.find(predict(walk.context))
    walk.settle("block_output", number, predict, found, right=s19, ids=ids)


def settle_mlp(walk: Walk, number: int, mlp: Mlp, choice: Return | None) -> None:
    """S17 and S18."""
    hidden_ids = [] if mlp.activation.id is None else [mlp.activation.id]
    hidden_ids += ["mlp-mixes-tokens"] if mlp.mixes_tokens else []
    extra = choice is not None and "extra-activation-after-fc2" in choice.ids
    moved = extra and hidden_ids == ["activation-missing"]
    if moved:
        hidden_ids = ["activation-after-fc2"]
    if mlp.made is not None:
        settle_odd(walk, "mlp_hidden", number, mlp.made, mlp.right_hidden)
    else:
        hidden = walk.find(mlp.hidden(walk.context))
        walk.settle("mlp_hidden", number, mlp.hidden, hidden, right=mlp.right_hidden, ids=hidden_ids)
    output = mlp.output if choice is None else choice.mlp_output
    ids = ["extra-activation-after-fc2"] if extra and not moved else []
    output_of_hidden = applied(mlp.second, stage_of("mlp_hidden", number))
    right: Predict = turned(output_of_hidden) if mlp.mixes_tokens else output_of_hidden
    walk.settle("mlp_output", number, output, walk.find(output(walk.context)), right=right, ids=ids)
    walk.roles[f"block{number}.fc1"], walk.roles[f"block{number}.fc2"] = mlp.first, mlp.second


def _returns(walk: Walk, number: int, mlp: Mlp, raw: Predict, has_norm1: bool) -> Iterator[Return]:
    x = stage_of("block_input", number)
    branches: list[tuple[Predict, tuple[str, ...], float]] = [(mlp.output, (), 0.0)]
    output = mlp.output(walk.context)
    for activation in ACTIVATIONS:
        if walk.find(activation.function(output)):
            activated: Predict = combine(activation.function, mlp.output)
            branches.append((activated, ("extra-activation-after-fc2",), 1.0))
    for branch, ids, price in branches:
        added = [one(walk.context) for one in (x, raw, mlp.input, branch)]
        for form in MLP_SUMS:
            found = walk.find(form.function(*added))
            if found:
                sum_: Predict = combine(form.function, x, raw, mlp.input, branch)
                yield from _normed_or_not(walk, branch, form, sum_, found, ids, price, has_norm1)


def _normed_or_not(
    walk: Walk,
    branch: Predict,
    form: Form,
    sum_: Predict,
    found: Found,
    ids: tuple[str, ...],
    price: float,
    has_norm1: bool,
) -> Iterator[Return]:
    """Every norm of the sum that is the block's own; without one, the sum alone."""
    tensor, own = sum_(walk.context), False
    for table in (NORMS[:1], NORMS[1:]):
        for norm, normed, place in walk.parameters.norms(tensor, found.record - 1, table):
            if _is_own_norm(walk, form, norm, normed, place, has_norm1):
                own = True
                wrong = _ids_of(walk, form, norm)
                total = (*ids, *wrong, *norm.ids)
                yield Return(branch, form, sum_, norm, total, price + _price(form, wrong), found)
    if not own:
        wrong = _ids_of(walk, form, None)
        yield Return(branch, form, sum_, None, (*ids, *wrong), price + _price(form, wrong) + 0.01, found)


def _price(form: Form, ids: tuple[str, ...]) -> float:
    return max(form.price, 1.0) if ids else 0.0


def _is_own_norm(
    walk: Walk, form: Form, norm: Norm | BatchNorm, tensor: Tensor, place: Found, has_norm1: bool
) -> bool:
    if walk.lone:
        return walk.ends_with(tensor)
    if walk.architecture == "report":
        return True
    if walk.architecture == "pre-norm":
        return _in_every_block(walk, norm) and walk.reads(tensor, place.record - 1)
    if not has_norm1 or next(walk.parameters.norms(tensor, place.record - 1), None):
        return True
    if next(walk.parameters.linears(tensor, place.record - 1), None):
        return False  # it is the next block's first norm
    return form.id == "residual-mlp-from-normed"


def _in_every_block(walk: Walk, norm: Norm | BatchNorm) -> bool:
    """Says whether this very norm was at the end of the first block, too."""
    first = walk.roles.get("block1.norm3")
    return isinstance(first, Norm) and isinstance(norm, Norm) and walk.parameters.same(first, norm)


def _ids_of(walk: Walk, form: Form, norm: Norm | BatchNorm | None) -> tuple[str, ...]:
    """The plain sum is right without a norm after it, the sum with the normed tensor is right with one."""
    if form.id is None:
        if norm is None:
            return ()
        return (
            ("final-norm-inside-loop",)
            if walk.parameters.times_used(norm) > 1
            else ("residual-mlp-from-raw-sum",)
        )
    if form.id == "residual-mlp-from-normed":
        return () if norm is not None else (form.id,)
    return (form.id,)


def _goes_on(walk: Walk, choice: Return, wrong_norm: bool) -> bool:
    tensor, after = choice.output(walk.context), choice.found.record - 1
    if choice.norm is None and choice.ids == _SUM_WITHOUT_NORM:
        return leads_on(walk, tensor, after)  # a norm alone may be the block's own, and changed after it
    return walk.reads(tensor, after, wrong_norm) or walk.reads(tensor[:, walk.class_row], after, wrong_norm)


def _settle_returned(walk: Walk, number: int, choice: Return, raw: Predict) -> None:
    normed = choice.norm is not None
    s16, m = stage_of("post_attention_norm", number), stage_of("mlp_output", number)
    right_sum: Predict = combine(eq.residual, s16 if normed else raw, m)
    right: Predict = right_sum if choice.norm is None else right_of(choice.norm, right_sum)
    ids = [name for name in choice.ids if name != "extra-activation-after-fc2"]
    found = walk.find(choice.output(walk.context))
    walk.settle("post_mlp_norm", number, choice.output, found, right=right, ids=ids)
    if choice.norm is not None:
        walk.roles[f"block{number}.norm3"] = choice.norm
    if walk.architecture is None:
        walk.architecture = "report" if normed and "final-norm-inside-loop" not in ids else "pre-norm"
