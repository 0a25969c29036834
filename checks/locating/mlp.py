"""S17 and S18: the hidden layer and the output of the MLP."""

from __future__ import annotations

from dataclasses import dataclass

from ...reference import equations as eq
from .context import Predict
from .forms import ACTIVATIONS, Form
from .parameters import Linear
from .walk import Walk, applied, combine


@dataclass(frozen=True)
class Mlp:
    """S16 through a linear map, an activation or none, and a second linear map."""

    input: Predict
    first: Linear
    second: Linear
    activation: Form

    @property
    def inner(self) -> Predict:
        """Before the activation."""
        return applied(self.first, self.input)

    @property
    def hidden(self) -> Predict:
        return combine(self.activation.function, self.inner)

    @property
    def output(self) -> Predict:
        return applied(self.second, self.hidden)

    @property
    def right_hidden(self) -> Predict:
        return combine(eq.gelu, self.inner)


_NONE = Form(lambda x: x, "activation-missing")


def find_mlp(walk: Walk, x: Predict, after: int) -> Mlp | None:
    """The two linear maps and what stands between them; right activations first."""
    tensor = x(walk.context)
    width = walk.context.stage("positioned_tokens").shape[-1]
    firsts = list(walk.parameters.linears(tensor, after))
    for activation in (*ACTIVATIONS, _NONE):
        for first, inner, found in firsts:
            hidden = activation.function(inner)
            if activation.id == "activation-missing" or walk.places.find(hidden, found.record - 1):
                for second, _, _ in walk.parameters.linears(hidden, found.record - 1, width):
                    return Mlp(x, first, second, activation)
    return None
