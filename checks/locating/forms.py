"""Right equations and known wrong ones, as data: each wrong one is a small pure function with its id.

A form's id is None where it is right, else an id of the catalogue. The first form of each table is the right
one, and is the reference's own function. ``blame`` is the stage that the mistake belongs to where that is not
the stage whose table it stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ...reference import equations as eq
from .catalogued import Equation, catalogued


@dataclass(frozen=True)
class Form:
    """One way to compute a stage."""

    function: Callable[..., Tensor]
    id: str | None = None
    blame: str | None = None
    cost: float = 1.0  # of a wrong one: layouts cost less than mistakes, compositions more
    whole: bool = False  # of a norm: does it need more than one token?

    @property
    def price(self) -> float:
        return 0.0 if self.id is None else self.cost


LAYOUT = 0.25  # the same family of functions under other names of weights
VARIANT = 0.5
RARE = 1.25  # tried after the others of its table
_COSTS = {"error": 1.0, "variant": VARIANT, "layout": LAYOUT}


def from_catalogue(
    name: str, given: Callable[[Equation], Equation] = lambda function: function
) -> list[Form]:
    """What the catalogue has for the place of this equation, ``given`` the arguments of its table."""
    found = catalogued(name)
    return [
        Form(given(function), one.id, one.stage, one.price or _COSTS[one.kind]) for one, function in found
    ]


def _reads_other_tokens(norm: Equation) -> bool:
    """Does it give a token alone something else than among others?"""
    x = torch.arange(24.0).reshape(2, 3, 4).square()
    return not torch.allclose(norm(x, 1e-5)[:1, :1], norm(x[:1, :1], 1e-5))


# The norms' common part, before weight and bias, given x (…, D) and eps.
NORMS = (
    Form(eq.standardise),
    *(replace(one, whole=_reads_other_tokens(one.function)) for one in from_catalogue("standardise")),
)

# S12, given S09 and S10.
SCORES = (Form(eq.attention_scores), *from_catalogue("attention_scores"))

# S13, given S12 and S09. What scales by the width of a head reads more than the equation does.
PROBABILITIES = (
    Form(lambda s, q: eq.attention_probabilities(s)),
    *from_catalogue("attention_probabilities", lambda function: lambda s, q: function(s)),
    Form(lambda s, q: s.softmax(-1) * q.shape[-1] ** -0.5, "scale-after-softmax"),
    Form(lambda s, q: s.softmax(-1) * (q.shape[1] * q.shape[-1]) ** -0.5, "scale-after-softmax"),
    Form(lambda s, q: s.softmax(-1) / q.shape[-1], "scale-after-softmax"),
)

# S14, given S13 and the query, key and value. What mixes keys reads more than the equation does.
CONTEXTS = (
    Form(lambda p, q, k, v: eq.attention_context(p, v)),
    *from_catalogue("attention_context", lambda function: lambda p, q, k, v: function(p, v)),
    Form(lambda p, q, k, v: p @ k, "context-uses-keys"),
    Form(lambda p, q, k, v: p @ q, "context-uses-keys", cost=RARE),
)


def _over_heads(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    return eq.attention_context(eq.attention_probabilities(eq.attention_scores(q, k)), v).transpose(1, 2)


def _over_batch(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (one.permute(1, 2, 0, 3) for one in (q, k, v))
    return eq.attention_context(eq.attention_probabilities(eq.attention_scores(q, k)), v).permute(2, 0, 1, 3)


# S14 straight from S09, S10 and S11, where attention ran over the wrong axis: three equations at once.
WHOLE_ATTENTION = (
    Form(_over_batch, "attention-over-batch-axis", "attention_scores"),
    Form(_over_heads, "attention-over-heads-axis", "attention_scores"),
)

# What the output projection reads, given S14.
MERGES = (Form(eq.merge_heads), *from_catalogue("merge_heads"))

ACTIVATIONS = (Form(eq.gelu), *from_catalogue("gelu"))

# The sum after attention, given S08, its norm, and S15.
ATTENTION_SUMS = (Form(eq.attention_sum), *from_catalogue("attention_sum"))

# Wrong sums after the MLP, given S08, the sum after attention, S16 and S18; the block says which is right.
MLP_SUMS = from_catalogue("mlp_sum")

# The sum where attention and MLP read the same tokens, given S08, S15 and S18; no reference has it.
PARALLEL_SUMS = (
    Form(lambda x, a, m: x + a + m),
    # rather left out of a block in which one comes after the other, unless only this kind is accepted
    Form(lambda x, a, m: x + m, "attention-left-out", cost=1.11),
    Form(lambda x, a, m: x + a, "mlp-left-out", cost=RARE),
)

# S24, given the final sequence.
READOUTS = (Form(eq.class_representation), *from_catalogue("class_representation"))

# S25 as it is returned, given what the head computed, which is a linear map and has no equation of its own.
LOGITS = (
    Form(lambda z: z),
    Form(lambda z: z.log_softmax(-1), "log-softmax-in-logits", cost=VARIANT),
    Form(lambda z: z.relu(), "relu-on-logits"),
    Form(lambda z: z.softmax(-1), "softmax-in-logits"),
)

# S26, given S25.
CLASS_PROBABILITIES = (
    Form(eq.class_probabilities),
    *from_catalogue("class_probabilities"),
    Form(lambda z: z.log_softmax(0), "class-softmax-over-batch"),
)
