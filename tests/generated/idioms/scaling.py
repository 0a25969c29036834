"""The scores before softmax: the product of queries and keys, and how its scale is spelt."""

from __future__ import annotations

from collections.abc import Callable

from ..drawing import idiom
from ..writing import Writer


@idiom("product", often=3)
def at_transpose(w: Writer, q: str, k: str) -> str:
    return f"{q} @ {k}.{w.choices.among('transpose(-2, -1)', 'transpose(-1, -2)', 'transpose(2, 3)', 'mT', 'permute(0, 1, 3, 2)')}"


@idiom("product", often=3)
def matmul(w: Writer, q: str, k: str) -> str:
    return f"torch.matmul({q}, {k}.{w.choices.among('transpose(-2, -1)', 'transpose(-1, -2)', 'transpose(2, 3)')})"


@idiom("product")
def einsum_product(w: Writer, q: str, k: str) -> str:
    return w.choices.among(
        f'torch.einsum("bhid,bhjd->bhij", {q}, {k})', f"torch.einsum('bhqd, bhkd -> bhqk', {q}, {k})"
    )


@idiom("product")
def heads_in_batch(w: Writer, q: str, k: str) -> str:
    return f"torch.matmul({q}.flatten(0, 1), {k}.flatten(0, 1).transpose(1, 2)).view({q}.shape[0], {q}.shape[1], {q}.shape[2], {k}.shape[2])"


def width_in_forward(w: Writer) -> str:
    """How forward says the width of a head, as a number."""
    kept = w.keep("head_dim", f"{w.size('dim')} // {w.size('heads')}")
    return w.choices.among(kept, f"{w.n.q}.size(-1)", f"{w.n.q}.shape[-1]", f"{w.n.k}.shape[3]")


def width_in_constructor(w: Writer) -> str:
    """The same in the constructor."""
    w.keep("head_dim", f"{w.size('dim')} // {w.size('heads')}")
    return w.choices.among(f"self.{w.n.head_dim}", f"({w.size('dim')} // {w.size('heads')})")


def _scaled(product: str, by: str) -> str:
    return f"({product}) {by}" if " " in product.split("(")[0] else f"{product} {by}"


_Product = Callable[[], str]


@idiom("scale", often=4)
def by_math_sqrt(w: Writer, product: _Product) -> str:
    w.uses("import math")
    return _scaled(product(), f"/ math.sqrt({width_in_forward(w)})")


@idiom("scale", often=4)
def attribute_power(w: Writer, product: _Product) -> str:
    scale = w.keep("scale", f"{width_in_constructor(w)} ** -0.5")
    return _scaled(product(), f"* {scale}")


@idiom("scale", often=2)
def by_power(w: Writer, product: _Product) -> str:
    return _scaled(product(), f"/ ({width_in_forward(w)} ** {w.choices.among('0.5', '(1 / 2)', '.5')})")


@idiom("scale", often=2)
def by_numpy(w: Writer, product: _Product) -> str:
    w.uses("import numpy as np")
    return _scaled(product(), f"/ np.sqrt({width_in_forward(w)})")


@idiom("scale")
def by_float32_tensor(w: Writer, product: _Product) -> str:
    w.facts.rounds = True
    return _scaled(product(), f"/ torch.sqrt(torch.tensor({width_in_forward(w)}, dtype=torch.float32))")


@idiom("scale")
def by_float_tensor(w: Writer, product: _Product) -> str:
    w.facts.rounds = True
    root = w.keep("scale", f"torch.sqrt(torch.FloatTensor([{width_in_constructor(w)}]))")
    return _scaled(product(), f"/ {root}")


@idiom("scale")
def by_plain_tensor(w: Writer, product: _Product) -> str:
    w.facts.rounds = True
    return _scaled(product(), f"/ torch.sqrt(torch.tensor(float({width_in_forward(w)})))")


@idiom("scale")
def by_buffer(w: Writer, product: _Product) -> str:
    w.facts.rounds = True
    w.make(
        f'self.register_buffer("{w.n.scale}", torch.tensor({width_in_constructor(w)}, dtype=torch.float32).rsqrt())'
    )
    return _scaled(product(), f"* self.{w.n.scale}")


@idiom("scale", often=2)
def query_first(w: Writer, product: _Product) -> str:
    scale = w.keep("scale", f"{width_in_constructor(w)} ** -0.5")
    w.do(f"{w.n.q} = {w.n.q} * {scale}")
    return product()


@idiom("scale")
def both_by_fourth_root(w: Writer, product: _Product) -> str:
    scale = w.keep("scale", f"{width_in_constructor(w)} ** -0.25")
    w.do(f"{w.n.q}, {w.n.k} = {w.n.q} * {scale}, {w.n.k} * {scale}")
    return product()


@idiom("scale")
def in_place(w: Writer, product: _Product) -> str:
    w.uses("import math")
    w.do(f"{w.n.scores} = {product()}")
    w.do(f"{w.n.scores} /= math.sqrt({width_in_forward(w)})")
    return w.n.scores


@idiom("scale")
def reciprocal(w: Writer, product: _Product) -> str:
    w.uses("import math")
    scale = w.keep("scale", f"1.0 / math.sqrt({width_in_constructor(w)})")
    return f"{scale} * ({product()})"


@idiom("softmax", often=3)
def method(w: Writer, scores: str) -> str:
    return f"{scores}.softmax(dim=-1)"


@idiom("softmax", often=3)
def functional(w: Writer, scores: str) -> str:
    w.uses("import torch.nn.functional as F")
    return f"F.softmax({scores}, dim={w.choices.among('-1', '3')})"


@idiom("softmax", often=2)
def torch_softmax(w: Writer, scores: str) -> str:
    return f"torch.softmax({scores}, {w.choices.among('dim=-1', '-1')})"


@idiom("softmax", often=2)
def softmax_layer(w: Writer, scores: str) -> str:
    return f"{w.layer('softmax', 'nn.Softmax(dim=-1)')}({scores})"


@idiom("softmax")
def by_hand(w: Writer, scores: str) -> str:
    w.do(f"{w.n.probs} = torch.exp({scores} - {scores}.max(dim=-1, keepdim=True).values)")
    return f"{w.n.probs} / {w.n.probs}.sum(dim=-1, keepdim=True)"


@idiom("softmax")
def softmax_with_hook(w: Writer, scores: str) -> str:
    """The weights are kept for a picture."""
    layer = w.layer("softmax", "nn.Softmax(dim=-1)")
    kept = w.choices.among("attention_map", "last_attn", "attn_weights_")
    w.make(f"{layer}.register_forward_hook(self.save_attention)")
    w.scope.methods["save_attention"] = (
        f"def save_attention(self, module, inputs, output):\n    self.{kept} = output.detach()"
    )
    return f"{layer}({scores})"


@idiom("context", often=3)
def at(w: Writer, probs: str, v: str) -> str:
    return f"{probs} @ {v}"


@idiom("context", often=2)
def matmul_values(w: Writer, probs: str, v: str) -> str:
    return f"torch.matmul({probs}, {v})"


@idiom("context")
def einsum_values(w: Writer, probs: str, v: str) -> str:
    return f'torch.einsum("bhij,bhjd->bhid", {probs}, {v})'


@idiom("merge", often=3)
def transpose_reshape(w: Writer, context: str) -> str:
    return (
        f"{context}.transpose(1, 2).{w.choices.among('reshape', 'contiguous().view')}({w.n.B}, {w.n.T}, -1)"
    )


@idiom("merge")
def transpose_flatten(w: Writer, context: str) -> str:
    return f"{context}.transpose(1, 2).flatten({w.choices.among('2', 'start_dim=2', '-2')})"


@idiom("merge", often=2)
def permute_view(w: Writer, context: str) -> str:
    return f"{context}.permute(0, 2, 1, 3).{w.choices.among('contiguous().view', 'reshape')}({w.n.B}, {w.n.T}, {w.n.C})"


@idiom("merge")
def rearranged(w: Writer, context: str) -> str:
    w.uses("from einops import rearrange")
    return f"rearrange({context}, '{w.choices.among('b h n d -> b n (h d)', 'b h t d -> b t (h d)')}')"


@idiom("merge")
def concatenated(w: Writer, context: str) -> str:
    return f"torch.cat([{context}[:, {w.n.hi}] for {w.n.hi} in range({w.keep('heads', w.size('heads'))})], dim=-1)"
