"""S17 and S18: the hidden layer and the output of the MLP."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ....reference import equations as eq
from ..context import Predict
from ..forms import ACTIVATIONS, Form
from ..search.parameters import Linear
from ..walk import Walk, applied, combine


@dataclass(frozen=True)
class Mlp:
    """S16 through a linear map, an activation or none, and a second linear map."""

    input: Predict
    first: Linear
    second: Linear
    activation: Form
    mixes_tokens: bool = False  # are the maps along the token axis?
    made: Predict | None = None  # the hidden layer, where no known activation gives it

    @property
    def inner(self) -> Predict:
        """Before the activation."""
        return applied(self.first, turned(self.input) if self.mixes_tokens else self.input)

    @property
    def hidden(self) -> Predict:
        return self.made or combine(self.activation.function, self.inner)

    @property
    def output(self) -> Predict:
        output = applied(self.second, self.hidden)
        return turned(output) if self.mixes_tokens else output

    @property
    def right_hidden(self) -> Predict:
        return combine(eq.gelu, self.inner)


_NONE = Form(lambda x: x, "activation-missing")


def turned(x: Predict) -> Predict:
    """Tokens and features exchanged."""
    return lambda context: x(context).mT


def find_mlp(walk: Walk, x: Predict, residual: Predict, after: int) -> Mlp | None:
    """The two linear maps and what stands between them; along features first, right activations first.

    S18 need be no tensor, where its sum with ``x`` or with ``residual`` is one.
    """
    T, D = walk.context.stage("positioned_tokens").shape[1:]
    for mixes_tokens, tensor, width in ((False, x(walk.context), D), (True, x(walk.context).mT, T)):
        found = _find(walk, tensor, width, after)
        if found is not None:
            return Mlp(x, *found, mixes_tokens)
    return find_added_mlp(walk, x, residual, after)


def find_added_mlp(walk: Walk, x: Predict, residual: Predict, after: int) -> Mlp | None:
    """The same where only the sum of S18 with ``residual`` or ``x`` is a tensor, its bias added last, say."""
    D = walk.context.stage("positioned_tokens").shape[2]
    for plus in (residual, x):
        found = _find(walk, x(walk.context), D, after, plus(walk.context))
        if found is not None:
            return Mlp(x, *found)
    return None


def _find(
    walk: Walk, tensor: Tensor, width: int, after: int, plus: Tensor | None = None
) -> tuple[Linear, Linear, Form] | None:
    firsts = list(walk.parameters.linears(tensor, after))
    for activation in (*ACTIVATIONS, _NONE):
        for first, inner, found in firsts:
            hidden = activation.function(inner)
            if activation.id == "activation-missing" or walk.places.find(hidden, found.record - 1):
                for second, _, _ in walk.parameters.linears(hidden, found.record - 1, width, plus):
                    return first, second, activation
    return None
