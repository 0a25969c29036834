"""Right equations and known wrong ones, as data: each wrong one is a small pure function with its id.

A form's id is None where it is right, else an id of the catalogue. The first form of each table is the right
one, and is the reference's own function. ``blame`` is the stage that the mistake belongs to where that is not
the stage whose table it stands in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

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
    masked: Callable[[Tensor], Tensor] | None = None  # of probabilities: what the mask makes of the scores

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
    return [Form(given(function), one.id, one.stage, _COSTS[one.kind]) for one, function in found]


def _mean_square(x: Tensor, axes: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    centred = x - x.mean(axes, keepdim=True)
    return centred, centred.square().mean(axes, keepdim=True)


def _standardise(axes: tuple[int, ...]) -> Callable[[Tensor, float], Tensor]:
    def function(x: Tensor, eps: float) -> Tensor:
        centred, variance = _mean_square(x, axes)
        return centred / torch.sqrt(variance + eps)

    return function


def _unbiased(x: Tensor, eps: float) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(x.var(-1, keepdim=True) + eps)


def _unbiased_eps_outside(x: Tensor, eps: float) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


def _eps_outside(x: Tensor, eps: float) -> Tensor:
    centred, variance = _mean_square(x, (-1,))
    return centred / (variance.sqrt() + eps)


def _no_root(x: Tensor, eps: float) -> Tensor:
    centred, variance = _mean_square(x, (-1,))
    return centred / (variance + eps)


def _squared_variance(x: Tensor, eps: float) -> Tensor:
    centred, variance = _mean_square(x, (-1,))
    return centred / (variance.square() + eps)


def _root_mean_square(x: Tensor, eps: float) -> Tensor:
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + eps)


# The norms' common part, before weight and bias, given x (…, D) and eps.
NORMS = (
    Form(_standardise((-1,))),
    Form(_root_mean_square, "rmsnorm-instead-of-layernorm", cost=VARIANT),
    Form(_unbiased, "layernorm-unbiased-variance"),
    Form(_unbiased_eps_outside, "layernorm-unbiased-variance"),
    Form(_eps_outside, "layernorm-eps-outside-sqrt"),
    Form(_no_root, "layernorm-no-sqrt"),
    Form(_squared_variance, "layernorm-no-sqrt"),
    Form(_standardise((-2, -1)), "layernorm-over-tokens-and-features", whole=True),
    Form(_standardise((-2,)), "layernorm-over-tokens", whole=True),
    Form(_standardise((0,)), "layernorm-over-batch", whole=True),
    Form(_standardise((0, 1)), "batchnorm-instead-of-layernorm", whole=True),
)


def _scores(scale: Callable[[int, int], float]) -> Callable[[Tensor, Tensor], Tensor]:
    """q·kᵀ times a factor that depends on the head dimension and the number of heads."""
    return lambda q, k: q @ k.mT * scale(q.shape[-1], q.shape[1])


# S12, given S09 and S10. Scale mistakes differ by their factor only, see SCALES.
SCALES: tuple[tuple[str, Callable[[int, int], float]], ...] = (
    ("scale-missing", lambda d, h: 1.0),
    ("scale-by-embed-dim", lambda d, h: (d * h) ** -0.5),
    ("scale-by-head-dim", lambda d, h: 1.0 / d),
    ("scale-multiplied", lambda d, h: d**0.5),
    ("scale-by-num-heads", lambda d, h: h**-0.5),
    ("scale-by-embed-dim", lambda d, h: 1.0 / (d * h)),
    ("scale-multiplied", lambda d, h: (d * h) ** 0.5),
    ("scale-by-num-heads", lambda d, h: 1.0 / h),
)


def _causal(scores: Tensor) -> Tensor:
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    return scores.masked_fill(future, -math.inf)


def _causal_probabilities(scores: Tensor, q: Tensor) -> Tensor:
    return eq.attention_probabilities(_causal(scores))


def _softmax_of_all(scores: Tensor, q: Tensor) -> Tensor:
    return scores.flatten(2).softmax(-1).view_as(scores)


def _first_head(scores: Tensor, q: Tensor) -> Tensor:
    return scores[:, :1].softmax(-1).expand(scores.shape)


SCORES = (
    Form(eq.attention_scores),
    *(Form(_scores(scale), name) for name, scale in SCALES),
    Form(lambda q, k: eq.attention_scores(k, q), "kq-transposed", cost=RARE),
    *from_catalogue("attention_scores"),
)

# S13, given S12 and S09.
PROBABILITIES = (
    Form(lambda s, q: eq.attention_probabilities(s)),
    Form(_causal_probabilities, "causal-mask-added", "attention_scores"),
    Form(lambda s, q: s.softmax(-2), "softmax-over-queries"),
    Form(lambda s, q: s.softmax(1), "softmax-over-heads"),
    Form(lambda s, q: s.softmax(0), "softmax-over-batch"),
    Form(_softmax_of_all, "softmax-over-flattened"),
    Form(lambda s, q: s, "softmax-missing"),
    Form(lambda s, q: s.softmax(-1).softmax(-1), "softmax-twice"),
    Form(lambda s, q: s.sigmoid(), "sigmoid-instead-of-softmax"),
    Form(_first_head, "only-first-head-used", "attention_scores"),
    Form(lambda s, q: s.softmax(-1) * q.shape[-1] ** -0.5, "scale-after-softmax"),
    Form(lambda s, q: s.softmax(-1) * (q.shape[1] * q.shape[-1]) ** -0.5, "scale-after-softmax"),
    Form(lambda s, q: s.softmax(-1) / q.shape[-1], "scale-after-softmax"),
    *from_catalogue("attention_probabilities", lambda function: lambda s, q: function(s)),
)


# S14, given S13 and the query, key and value.
CONTEXTS = (
    Form(lambda p, q, k, v: eq.attention_context(p, v)),
    Form(lambda p, q, k, v: p.mT @ v, "probs-transposed"),
    Form(lambda p, q, k, v: p @ k, "context-uses-keys"),
    Form(lambda p, q, k, v: p @ q, "context-uses-keys", cost=RARE),
    Form(
        lambda p, q, k, v: p.mean(1, keepdim=True) @ v, "probs-averaged-over-heads", "attention_probabilities"
    ),
    *from_catalogue("attention_context", lambda function: lambda p, q, k, v: function(p, v)),
)


def _over_heads(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    return eq.attention_context(eq.attention_probabilities(eq.attention_scores(q, k)), v).transpose(1, 2)


def _over_batch(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (one.permute(1, 2, 0, 3) for one in (q, k, v))
    return eq.attention_context(eq.attention_probabilities(eq.attention_scores(q, k)), v).permute(2, 0, 1, 3)


# S14 straight from S09, S10 and S11, where attention ran over the wrong axis.
WHOLE_ATTENTION = (
    Form(_over_batch, "attention-over-batch-axis", "attention_scores"),
    Form(_over_heads, "attention-over-heads-axis", "attention_scores"),
)

# What the output projection reads, given S14.
MERGES = (
    Form(eq.merge_heads),
    Form(lambda context: context.permute(0, 2, 3, 1).flatten(2), "heads-interleaved-on-merge", cost=LAYOUT),
    Form(
        lambda context: context.reshape(context.shape[0], context.shape[2], -1),
        "heads-merged-without-transpose",
    ),
    Form(lambda context: context.mean(1), "heads-averaged"),
    Form(lambda context: context.sum(1), "heads-averaged"),
    *from_catalogue("merge_heads"),
)

ACTIVATIONS = (
    Form(eq.gelu),
    Form(lambda x: F.gelu(x, approximate="tanh"), "gelu-tanh", cost=VARIANT),
    Form(eq.quick_gelu, "quick-gelu", cost=VARIANT),
    Form(lambda x: x.relu(), "relu-instead-of-gelu", cost=VARIANT),
    Form(F.silu, "silu-instead-of-gelu", cost=VARIANT),
    *from_catalogue("gelu"),
)

# The sum after attention, given S08, its norm, and S15.
ATTENTION_SUMS = (
    Form(lambda x, normed, a: eq.residual(x, a)),
    Form(lambda x, normed, a: normed + a, "residual-from-normed-attn"),
    Form(lambda x, normed, a: 2 * a, "residual-self-add"),
    Form(lambda x, normed, a: 2 * x + a, "residual-doubled"),
    Form(lambda x, normed, a: x * a, "residual-multiplied"),
    Form(lambda x, normed, a: a, "residual-attn-missing", cost=RARE),
)

# The sum after the MLP, given S08, the sum after attention, S16 and S18.
MLP_SUMS = (
    Form(lambda x, raw, normed, m: eq.residual(raw, m)),
    Form(lambda x, raw, normed, m: normed + m, "residual-mlp-from-normed"),
    Form(lambda x, raw, normed, m: x + m, "residual-mlp-from-block-input"),
    Form(lambda x, raw, normed, m: 2 * m, "residual-self-add"),
    Form(lambda x, raw, normed, m: 2 * raw + m, "residual-doubled"),
    Form(lambda x, raw, normed, m: 2 * normed + m, "residual-doubled"),
    Form(lambda x, raw, normed, m: raw * m, "residual-multiplied"),
    Form(lambda x, raw, normed, m: normed * m, "residual-multiplied"),
    Form(lambda x, raw, normed, m: m, "residual-mlp-missing", cost=RARE),
)

# S24, given the final sequence.
READOUTS = (
    Form(eq.class_representation),
    Form(lambda s: s[:, 1:].mean(1), "mean-pool-patches", cost=VARIANT),
    Form(lambda s: s.mean(1), "mean-pool-includes-cls", cost=VARIANT),
    Form(lambda s: s[:, -1], "readout-last-token"),
    Form(lambda s: s[:, 1], "readout-last-token"),
    Form(lambda s: s[0], "readout-batch-index"),
    Form(lambda s: s, "head-on-all-tokens", "logits"),
    *from_catalogue("class_representation"),
)

# S25 as it is returned, given what the head computed.
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
)
