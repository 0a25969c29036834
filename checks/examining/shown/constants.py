"""Constants that stand in a parameter's place: a stage reads them as learned, and nothing learned is in them.

The first example is built and run once more in the very same way, with other random numbers in its
parameters. What is learned is another then, by whatever name, copy or computation it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ....submissions.host.trace import Use
from ....submissions.questions.plain_passes import Passes
from ...locating.search.norms import BatchNorm, Norm
from ...locating.search.origins import origin
from ...locating.search.parameter_search import LinearMap
from ...locating.steps import Finding
from ..passes.example import Example
from ..passes.examples import Examples

# of the largest token: positions drawn or computed by any formula are a million times larger
_NO_TABLE = 1e-6
_STAGES = {  # where the weights of a role are read; positions may be fixed (see vit.position_tables)
    "projection": "patch_embeddings",
    "norm1": "query",
    "projection0": "query",
    "projection1": "key",
    "projection2": "value",
    "out": "attention_output",
    "norm2": "post_attention_norm",
    "fc1": "mlp_hidden",
    "fc2": "mlp_output",
    "norm3": "post_mlp_norm",
    "final_norm": "final_sequence",
    "head": "logits",
}


@dataclass(frozen=True)
class Constant:
    """A stage that reads a constant in the place of something learned; ``id`` is that of a known mistake."""

    stage: str
    message: str
    id: str | None = None

    @property
    def finding(self) -> Finding | None:
        return None if self.id is None else Finding(self.id, self.stage, None)


def constants(examples: Examples, plain: Callable[[], Passes]) -> dict[str, Constant]:
    """By stage; none in a script, whose plain tensors are its weights. ``plain`` tells what passes create."""
    if examples.session.is_script or examples.crash is not None:
        return {}
    first = examples.examples[0]
    second = examples.redrawn()
    found = [*_token(first, second), *_positions(first, second), *_weights(first, second, plain)]
    named = {one.stage for step in first.walk.steps for one in step.findings}
    return {one.stage: one for one in reversed(found) if one.stage not in named}


def _token(first: Example, redrawn: Example) -> Iterator[Constant]:
    before, after = first.first("class_token"), redrawn.first("class_token")
    is_constant = before is not None and after is not None and torch.equal(before.student, after.student)
    if is_constant and not _is_first_position(first, redrawn):
        told = "It does not change with the model's parameters, so it does not contain a learned vector."
        yield Constant("class_token", told, "cls-not-parameter")


def _is_first_position(first: Example, redrawn: Example) -> bool:
    """Is only room made for it, by padding, and what is learned of it a row of the table of positions?"""
    tokens, before, after = (
        first.first("tokens"),
        first.first("positioned_tokens"),
        redrawn.first("positioned_tokens"),
    )
    if tokens is None or tokens.step.found is None or before is None or after is None:
        return False
    is_room = "pad" in first.trace.records[tokens.step.found.record].op
    row = first.walk.class_row
    return is_room and not torch.equal(before.student[:, row], after.student[:, row])


def _positions(first: Example, redrawn: Example) -> Iterator[Constant]:
    """A table may be fixed, but not pretend to be learned, or to be one."""
    role, other = (one.walk.roles.get("positions") for one in (first, redrawn))
    if isinstance(role, Use) and isinstance(other, Use):
        leaves = (_parameters(first, role), _parameters(redrawn, other))
        pretends = any(not torch.equal(*pair) for pair in zip(*leaves))  # what is frozen keeps its formula
        if pretends and torch.equal(first.context.use(role), redrawn.context.use(other)):
            told = "The table does not change with the parameter that it is made from."
            yield Constant("positioned_tokens", told, "pos-not-parameter")
    before, after = first.first("tokens"), first.first("positioned_tokens")
    if before is not None and after is not None and before.student.shape == after.student.shape:
        added = (after.student - before.student).abs().max()
        if 0 < float(added) < _NO_TABLE * float(before.student.abs().max()):
            told = (
                f"The values added to the tokens are at most {float(added):.1g}, too small to say a position."
            )
            yield Constant("positioned_tokens", told, "pos-missing")


def _parameters(example: Example, role: Use) -> list[Tensor]:
    """The parameters that a table is made from."""
    leaves = origin(example.trace, example.trace.used(role)).leaves
    return [example.trace.tensor(one.reference) for one in leaves if one.kind == "parameter"]


def _weights(first: Example, redrawn: Example, plain: Callable[[], Passes]) -> Iterator[Constant]:
    """Those that are no parameters, as where passes make parameters of their own."""
    after = dict(_read(redrawn))
    for name, weight in _read(first):
        other = after.get(name)
        if other is not None and weight.shape == other.shape and torch.equal(weight, other):
            block, role, part = name
            told = f"The {part} that it uses{block} does not change with the model's parameters"
            text = f"{told}: it is not a parameter of the model, and cannot learn."
            yield Constant(_STAGES[role], text, "params-created-in-forward" if plain().created else None)


def _read(example: Example) -> Iterator[tuple[tuple[str, str, str], Tensor]]:
    """The weights of each role, by its block in words, its name and what they are."""
    for name, player in example.walk.roles.items():
        block, _, role = name.rpartition(".")
        if role not in _STAGES or isinstance(player, Use):
            continue
        where = f" in {block[:5]} {block[5:]}" if block else ""
        for part, use in (("weight", player.weight), ("bias", player.bias)):
            if use is not None and not _is_plain(example.context.use(use), player, part):
                yield (where, role, part), example.context.use(use)


def _is_plain(weight: Tensor, player: LinearMap | Norm | BatchNorm, part: str) -> bool:
    """Is it as good as none: a bias of zeros, a norm's weight of ones?"""
    nothing = 0.0 if part == "bias" else 1.0
    return not (part == "weight" and isinstance(player, LinearMap)) and bool((weight == nothing).all())
