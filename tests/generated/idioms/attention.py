"""Self-attention: written out, fused, of the library, a module for each head."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer
from .packing import heads_of, measured, separate_layers, three


def projected(w: Writer, merged: str) -> str:
    """The output projection of the merged heads."""
    dropped = w.choices.once_in(2)
    layer = w.layer("wo", f"nn.Linear({w.size('dim')}, {w.size('dim')})")
    w.linear("out", layer)
    if dropped:
        return f"{dropout(w, 'drop')}({layer}({merged}))"
    return f"{layer}({merged})"


def dropout(w: Writer, what: str) -> str:
    """A dropout layer of the class at hand, made once."""
    if what in w.scope.kept:
        return w.scope.kept[what]
    return w.keep(what, f"nn.Dropout({rate(w)})")


def rate(w: Writer) -> str:
    """How much is dropped, said alike in all of a program."""
    if "rate" not in w.values:
        w.values["rate"] = w.choices.among("size", "size", "0.1", "0.0", "p=0.1", "0.2")
    return w.size("dropout") if w.values["rate"] == "size" else w.values["rate"]


@idiom("attention", often=12)
def written_out(w: Writer, x: str) -> str:
    n = w.n
    w.call("qkv", x)
    scores = w.call("scale", lambda: w.call("product", n.q, n.k))
    read = w.named(n.scores, f"«S12|{scores}»")
    _masked(w)
    read = f"«S12|{read}»" if scores == n.scores else read  # made in place: the mark stands where it is read
    w.do(f"{n.probs} = «S13|{w.call('softmax', read)}»")
    probs = n.probs
    if w.choices.once_in(2):
        w.do(f"{n.probs} = {dropout(w, 'drop')}({n.probs})")
    w.do(f"{n.context} = «S14|{w.call('context', probs, n.v)}»")
    return _out(w, w.call("merge", n.context))


def _masked(w: Writer) -> None:
    """A mask that is never given."""
    mask = "mask"
    if w.choices.once_in(24):
        mask = "self.mask"
        w.make(f"{mask} = None")
    elif w.choices.once_in(12):
        w.scope.takes.append("mask=None")
    else:
        return
    filled = f'{w.n.scores}.masked_fill({mask} == 0, float("-inf"))'
    w.do(f"if {mask} is not None:\n    {w.n.scores} = {filled}")


def _out(w: Writer, merged: str) -> str:
    n = w.n
    if w.choices.once_in(2):
        return f"«S15|{projected(w, merged)}»"
    w.do(f"{n.merged} = {merged}")
    w.do(f"{n.result} = «S15|{projected(w, n.merged)}»")
    return n.result


@idiom("attention", often=2)
def fused(w: Writer, x: str) -> str:
    n = w.n
    w.uses("import torch.nn.functional as F")
    w.call("qkv", x)
    dropped = w.choices.among("", "", ", dropout_p=0.1 if self.training else 0.0")
    w.do(f"{n.context} = «S14|F.scaled_dot_product_attention({n.q}, {n.k}, {n.v}{dropped})»")
    return _out(w, w.call("merge", n.context))


@idiom("attention", often=4)
def library(w: Writer, x: str) -> str:
    n = w.n
    made = f"nn.MultiheadAttention({w.size('dim')}, {w.size('heads')}, "
    made += w.choices.among("batch_first=True)", "dropout=0.1, batch_first=True)")
    if w.choices.once_in(3):
        made = (
            f"nn.MultiheadAttention(embed_dim={w.size('dim')}, num_heads={w.size('heads')}, batch_first=True)"
        )
    layer = w.layer("attn", made)
    packed_weights(w, layer)
    last = w.choices.among("", ", need_weights=False")
    w.do(f"{n.result}, {w.choices.among('_', '_', n.probs)} = {layer}({x}, {x}, {x}{last})")
    return f"«S15|{n.result}»"


@idiom("attention")
def library_sequence_first(w: Writer, x: str) -> str:
    n = w.n
    layer = w.layer("attn", f"nn.MultiheadAttention({w.size('dim')}, {w.size('heads')})")
    packed_weights(w, layer)
    w.do(f"{n.result} = {x}.transpose(0, 1)")
    w.do(f"{n.result} = {layer}({n.result}, {n.result}, {n.result})[0]")
    return f"«S15|{n.result}.transpose(0, 1)»"


def packed_weights(w: Writer, layer: str) -> None:
    """Where the library's attention keeps its weights."""
    for index, role in enumerate(("query", "key", "value")):
        w.weight(f"{role}.weight", f"{layer}.in_proj_weight.chunk(3)[{index}]")
        w.weight(f"{role}.bias", f"{layer}.in_proj_bias.chunk(3)[{index}]")
    for what in ("weight", "bias"):
        w.weight(f"out.{what}", f"{layer}.out_proj.{what}")


@idiom("attention", often=2)
def a_module_for_each_head(w: Writer, x: str) -> str:
    n = w.n
    with w.writing("Single") as scope:
        head = _single_head(w)
        w.finish(scope, n.seq, head)
    made = f"nn.ModuleList([{w.construct(scope)} for _ in range({w.size('heads')})])"
    layers = w.layer("per_head", made)
    for role, expression in scope.weights.items():
        w.weight(role, f"torch.cat([{expression.replace('self.', 'one.')} for one in {layers}])")
    w.do(f"{n.merged} = torch.cat([head({x}) for head in {layers}], dim=-1)")
    w.do(f"{n.result} = «S15|{projected(w, n.merged)}»")
    return n.result


def _single_head(w: Writer) -> str:
    """Attention of one head; returns its context, (B, T, d)."""
    n, dim = w.n, w.size("dim")
    width = w.keep("head_dim", f"{dim} // {w.size('heads')}")
    for name, attribute, role, _ in three(w):
        layer = w.layer(attribute, f"nn.Linear({dim}, {width}, bias=False)")
        w.weight(f"{role}.weight", f"{layer}.weight")
        w.do(f"{name} = {layer}({n.seq})")
    w.do(
        f"{n.scores} = {n.q} @ {n.k}.transpose(-2, -1) * {w.choices.among(f'{width} ** -0.5', f'{n.q}.shape[-1] ** -0.5')}"
    )
    w.do(f"{n.probs} = {w.choices.among('torch.softmax', 'nn.functional.softmax')}({n.scores}, dim=-1)")
    return f"{n.probs} @ {n.v}"


@idiom("attention")
def list_of_heads(w: Writer, x: str) -> str:
    """A loop over the heads of separate layers, as in a much copied tutorial."""
    n = w.n
    layers = [layer for _, layer, _ in separate_layers(w)]
    measured(w, x)
    w.uses("import math")
    width = w.keep("head_dim", f"{w.size('dim')} // {w.size('heads')}")
    w.do(f"{n.q}, {n.k}, {n.v} = {', '.join(f'{layer}({x})' for layer in layers)}")
    w.do(f"{n.maps} = []")
    cut, first = f"[:, :, {n.hi} * {width}:({n.hi} + 1) * {width}]", ""
    if w.choices.once_in(2):
        cut, first = "[:, :, cols]", f"    cols = slice({n.hi} * {width}, ({n.hi} + 1) * {width})\n"
    w.do(
        f"for {n.hi} in range({heads_of(w)}):\n{first}"
        f"    {n.scores} = {n.q}{cut} @ {n.k}{cut}.transpose(1, 2) / math.sqrt({width})\n"
        f"    {n.maps}.append({n.scores}.softmax(dim=-1) @ {n.v}{cut})"
    )
    w.do(f"{n.result} = «S15|{projected(w, f'torch.cat({n.maps}, dim=2)')}»")
    return n.result
