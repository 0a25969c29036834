"""S17 to S20: the MLP's stages, its residual, the norm after it if there is one, what the block returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from torch import Tensor

from ...reference import equations as eq
from .context import Predict
from .forms import ACTIVATIONS, MLP_SUMS, NORMS, Form
from .mlp import Mlp
from .parameters import Norm
from .places import Found
from .walk import Walk, applied, combine, stage_of


@dataclass(frozen=True)
class Return:
    """One way from S18 to what the block returns."""

    mlp_output: Predict
    form: Form
    sum: Predict
    norm: Norm | None
    ids: tuple[str, ...]
    price: float
    found: Found

    @property
    def output(self) -> Predict:
        return self.sum if self.norm is None else applied(self.norm, self.sum)


def settle_output(walk: Walk, number: int, mlp: Mlp, raw: Predict, has_norm1: bool) -> bool:
    """Settles S17 to S20; False where nothing that follows reads any known sum."""
    returns = sorted(_returns(walk, number, mlp, raw, has_norm1), key=lambda one: one.price)
    choice = next((one for one in returns if _goes_on(walk, one)), None)
    _settle_mlp(walk, number, mlp, choice)
    if choice is None:
        walk.stuck("post_mlp_norm", number)
        return False
    _settle_returned(walk, number, choice, raw)
    walk.blocks = number
    return True


def _settle_mlp(walk: Walk, number: int, mlp: Mlp, choice: Return | None) -> None:
    hidden_ids = [] if mlp.activation.id is None else [mlp.activation.id]
    extra = choice is not None and "extra-activation-after-fc2" in choice.ids
    moved = extra and hidden_ids == ["activation-missing"]
    if moved:
        hidden_ids = ["activation-after-fc2"]
    hidden = mlp.hidden(walk.context)
    walk.settle("mlp_hidden", number, mlp.hidden, walk.find(hidden), right=mlp.right_hidden, ids=hidden_ids)
    output = mlp.output if choice is None else choice.mlp_output
    ids = ["extra-activation-after-fc2"] if extra and not moved else []
    right: Predict = applied(mlp.second, stage_of("mlp_hidden", number))
    walk.settle("mlp_output", number, output, walk.find(output(walk.context)), right=right, ids=ids)
    walk.roles[f"block{number}.fc1"], walk.roles[f"block{number}.fc2"] = mlp.first, mlp.second


def _returns(walk: Walk, number: int, mlp: Mlp, raw: Predict, has_norm1: bool) -> Iterator[Return]:
    x = stage_of("block_input", number)
    branches: list[tuple[Predict, tuple[str, ...], float]] = [(mlp.output, (), 0.0)]
    for activation in ACTIVATIONS:
        branch: Predict = combine(activation.function, mlp.output)
        if walk.find(branch(walk.context)):
            branches.append((branch, ("extra-activation-after-fc2",), 1.0))
    for branch, ids, price in branches:
        for form in MLP_SUMS:
            sum_: Predict = combine(form.function, x, raw, mlp.input, branch)
            found = walk.find(sum_(walk.context))
            if found:
                yield from _normed_or_not(walk, branch, form, sum_, found, ids, price, has_norm1)


def _normed_or_not(
    walk: Walk, branch: Predict, form: Form, sum_: Predict, found: Found, ids: tuple[str, ...], price: float,
    has_norm1: bool,
) -> Iterator[Return]:
    """Is the norm of the sum the block's own, or the next reader's?"""
    tensor = sum_(walk.context)
    for table in (NORMS[:1], NORMS[1:]):
        for norm, normed, place in walk.parameters.norms(tensor, found.record - 1, table):
            own = _is_own_norm(walk, form, normed, place, has_norm1)
            if own:
                wrong = _ids_of(form, normed=True)
                yield Return(branch, form, sum_, norm, (*ids, *wrong, *norm.ids), price + _price(form, wrong), found)
    wrong = _ids_of(form, normed=False)
    yield Return(branch, form, sum_, None, (*ids, *wrong), price + _price(form, wrong) + 0.01, found)


def _price(form: Form, ids: tuple[str, ...]) -> float:
    return max(form.price, 1.0) if ids else 0.0


def _is_own_norm(walk: Walk, form: Form, tensor: Tensor, place: Found, has_norm1: bool) -> bool:
    again = next(walk.parameters.norms(tensor, place.record - 1), None)
    if again is not None or not has_norm1:
        return True
    if next(walk.parameters.linears(tensor, place.record - 1), None):
        return False  # it is the next block's first norm
    if walk.architecture is not None:
        return walk.architecture != "pre-norm"
    return form.id == "residual-mlp-from-normed"


def _ids_of(form: Form, normed: bool) -> tuple[str, ...]:
    """The plain sum is right without a norm after it, the sum with the normed tensor is right with one."""
    if form.id is None:
        return ("residual-mlp-from-raw-sum",) if normed else ()
    if form.id == "residual-mlp-from-normed":
        return () if normed else (form.id,)
    return (form.id,)


def _goes_on(walk: Walk, choice: Return) -> bool:
    tensor = choice.output(walk.context)
    return walk.reads(tensor, choice.found.record - 1) or walk.reads(tensor[:, walk.class_row], choice.found.record - 1)


def _settle_returned(walk: Walk, number: int, choice: Return, raw: Predict) -> None:
    normed = choice.norm is not None
    s16, m = stage_of("post_attention_norm", number), stage_of("mlp_output", number)
    right_sum: Predict = combine(eq.residual, s16 if normed else raw, m)
    right: Predict = right_sum if choice.norm is None else _right_norm(choice.norm, right_sum)
    ids = [id for id in choice.ids if id != "extra-activation-after-fc2"]
    branch_only = ids == ["residual-mlp-missing"] and walk.find(right_sum(walk.context))
    found = walk.find(choice.output(walk.context))
    if branch_only:  # the sum was computed, and the branch returned
        walk.settle("post_mlp_norm", number, right_sum, walk.find(right_sum(walk.context)))
        walk.settle(
            "block_output", number, choice.output, found, right=stage_of("post_mlp_norm", number),
            ids=["block-returns-branch"],
        )
    else:
        walk.settle("post_mlp_norm", number, choice.output, found, right=right, ids=ids)
        walk.settle("block_output", number, stage_of("post_mlp_norm", number), found)
    if choice.norm is not None:
        walk.roles[f"block{number}.norm3"] = choice.norm
    if walk.architecture is None:
        walk.architecture = "report" if normed else "pre-norm"


def _right_norm(norm: Norm, x: Predict) -> Predict:
    return lambda context: norm.right(context, x(context))
