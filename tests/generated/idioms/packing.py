"""Queries, keys and values per head, (B, h, T, d): fused, separate, per head, in kernels."""

from __future__ import annotations

from collections.abc import Iterator

from ..drawing import idiom
from ..writing import Writer


def measured(w: Writer, x: str) -> None:
    """Unpack the shape of the tokens in forward."""
    w.do(w.choices.among(f"{w.n.B}, {w.n.T}, {w.n.C} = {x}.shape", f"{w.n.B}, {w.n.T}, {w.n.C} = {x}.size()"))


def three(w: Writer) -> Iterator[tuple[str, str, str, str]]:
    """Name, layer, role and stage of queries, keys and values."""
    names = (w.n.q, w.n.k, w.n.v)
    return zip(names, ("wq", "wk", "wv"), ("query", "key", "value"), ("S09", "S10", "S11"))


def heads_of(w: Writer) -> str:
    return w.keep("heads", w.size("heads"))


def head_width(w: Writer) -> str:
    kept = w.keep(
        "head_dim", f"{w.size('dim')} // {heads_of(w) if w.choices.once_in(2) else w.size('heads')}"
    )
    return w.choices.among(kept, f"{w.n.C} // {heads_of(w)}")


def _biased(w: Writer) -> str:
    return w.choices.among("", "", "", ", bias=True", ", bias=False")


def _fused(w: Writer) -> str:
    dim = w.size("dim")
    layer = w.layer("wqkv", f"nn.Linear({dim}, {w.choices.among(f'{dim} * 3', f'3 * {dim}')}{_biased(w)})")
    for index, role in enumerate(("query", "key", "value")):
        w.weight(f"{role}.weight", f"{layer}.weight.chunk(3)[{index}]")
        w.weight(f"{role}.bias", f"(None if {layer}.bias is None else {layer}.bias.chunk(3)[{index}])")
    return layer


@idiom("qkv", often=5)
def fused_permuted(w: Writer, x: str) -> None:
    layer, n = _fused(w), w.n
    measured(w, x)
    w.do(f"{n.qkv} = {layer}({x}).reshape({n.B}, {n.T}, 3, {heads_of(w)}, {head_width(w)})")
    if w.choices.once_in(2):
        w.do(f"{n.qkv} = {n.qkv}.permute(2, 0, 3, 1, 4)")
    else:
        w.scope.does[-1] += ".permute(2, 0, 3, 1, 4)"
    taken = w.choices.among(
        f"{n.qkv}[0], {n.qkv}[1], {n.qkv}[2]",
        f"{n.qkv}.unbind(0)",
        f"{n.qkv}",
        f"torch.unbind({n.qkv}, dim=0)",
    )
    w.do(f"{n.q}, {n.k}, {n.v} = «S09,S10,S11|{taken}»")


@idiom("qkv", often=3)
def fused_chunks(w: Writer, x: str) -> None:
    layer, n = _fused(w), w.n
    measured(w, x)
    w.do(f"{n.q}, {n.k}, {n.v} = {layer}({x}).{w.choices.among('chunk(3, dim=-1)', 'chunk(3, dim=2)')}")
    width = head_width(w)
    for name, stage in ((n.q, "S09"), (n.k, "S10"), (n.v, "S11")):
        w.do(f"{name} = «{stage}|{name}.view({n.B}, {n.T}, {heads_of(w)}, {width}).transpose(1, 2)»")


@idiom("qkv")
def fused_mapped(w: Writer, x: str) -> None:
    w.uses("from einops import rearrange")
    layer, n = _fused(w), w.n
    measured(w, x)
    w.do(f"{n.qkv} = {layer}({x}).chunk(3, dim=-1)")
    heads = heads_of(w)
    w.do(
        f"{n.q}, {n.k}, {n.v} = «S09,S10,S11|map(lambda t: rearrange(t, 'b n (h d) -> b h n d', h={heads}), {n.qkv})»"
    )


@idiom("qkv")
def fused_rearranged(w: Writer, x: str) -> None:
    w.uses("from einops import rearrange")
    layer, n = _fused(w), w.n
    measured(w, x)
    heads = heads_of(w)
    w.do(f'{n.qkv} = rearrange({layer}({x}), "b n (qkv h d) -> (qkv) b h n d", h={heads}, qkv=3)')
    w.do(f"{n.q}, {n.k}, {n.v} = «S09,S10,S11|{n.qkv}[0], {n.qkv}[1], {n.qkv}[2]»")


@idiom("qkv")
def fused_slices(w: Writer, x: str) -> None:
    layer, n = _fused(w), w.n
    measured(w, x)
    w.do(f"{n.qkv} = {layer}({x})")
    heads, width = heads_of(w), head_width(w)
    cuts = (f":{n.C}", f"{n.C}:2 * {n.C}", f"2 * {n.C}:")
    for name, cut, stage in zip((n.q, n.k, n.v), cuts, ("S09", "S10", "S11")):
        w.do(
            f"{name} = «{stage}|{n.qkv}[:, :, {cut}].reshape({n.B}, {n.T}, {heads}, {width}).permute(0, 2, 1, 3)»"
        )


def separate_layers(w: Writer, bias: str = "") -> list[tuple[str, str, str]]:
    """Three linear layers: of each what it gives, how forward says it, and its stage."""
    dim, found = w.size("dim"), []
    for name, attribute, role, stage in three(w):
        layer = w.layer(attribute, f"nn.Linear({dim}, {dim}{bias})")
        w.linear(role, layer)
        found.append((name, layer, stage))
    return found


@idiom("qkv", often=6)
def separate(w: Writer, x: str) -> None:
    n, layers = w.n, separate_layers(w, _biased(w))
    measured(w, x)
    shape = f"{n.B}, {w.choices.among(n.T, '-1')}, {heads_of(w)}, {head_width(w)}"
    turn = w.choices.among("transpose(1, 2)", "permute(0, 2, 1, 3)")
    cut = w.choices.among("view", "reshape")
    for name, layer, stage in layers:
        w.do(f"{name} = «{stage}|{layer}({x}).{cut}({shape}).{turn}»")


@idiom("qkv")
def separate_helper(w: Writer, x: str) -> None:
    cut = w.choices.among("split_heads", "to_heads", "reshape_heads")
    w.helpers[cut] = (
        f"def {cut}(t, n_heads):\n    b, s, e = t.shape\n"
        "    return t.reshape(b, s, n_heads, e // n_heads).transpose(1, 2)"
    )
    measured(w, x)
    for name, layer, stage in separate_layers(w):
        w.do(f"{name} = «{stage}|{cut}({layer}({x}), {heads_of(w)})»")


@idiom("qkv")
def einsum_kernels(w: Writer, x: str) -> None:
    dim, heads = w.size("dim"), w.size("heads")
    width = w.keep("head_dim", f"{dim} // {heads}")
    measured(w, x)
    for name, attribute, role, stage in three(w):
        kernel = w.layer(attribute, f"nn.Parameter(torch.randn({dim}, {heads}, {width}) * 0.02)")
        w.weight(f"{role}.weight", f"{kernel}.flatten(1).T")
        w.do(f'{name} = «{stage}|torch.einsum("btc,chd->bhtd", {x}, {kernel})»')


@idiom("qkv")
def convolutions(w: Writer, x: str) -> None:
    n, dim, heads = w.n, w.size("dim"), heads_of(w)
    measured(w, x)
    for name, attribute, role, stage in three(w):
        layer = w.layer(attribute, f"nn.Conv1d({dim}, {dim}, {w.choices.among('1', 'kernel_size=1')})")
        w.linear(role, layer, ".squeeze(-1)")
        w.do(
            f"{name} = «{stage}|{layer}({x}.transpose(1, 2)).view({n.B}, {heads}, -1, {n.T}).transpose(2, 3)»"
        )


@idiom("qkv")
def raw_parameters(w: Writer, x: str) -> None:
    n, dim = w.n, w.size("dim")
    measured(w, x)
    heads, width = heads_of(w), head_width(w)
    for name, attribute, role, stage in three(w):
        matrix = w.layer(attribute, f"nn.Parameter(torch.empty({dim}, {dim}).normal_(std=0.02))")
        w.weight(f"{role}.weight", f"{matrix}.T")
        w.do(f"{name} = «{stage}|({x} @ {matrix}).reshape({n.B}, {n.T}, {heads}, {width}).transpose(1, 2)»")


@idiom("qkv")
def stacked_lists(w: Writer, x: str) -> None:
    width = w.keep("head_dim", f"{w.size('dim')} // {w.size('heads')}")
    measured(w, x)
    for name, attribute, role, stage in three(w):
        made = f"nn.ModuleList([nn.Linear({w.size('dim')}, {width}) for _ in range({w.size('heads')})])"
        layers = w.layer(attribute, made)
        for what in ("weight", "bias"):
            w.weight(f"{role}.{what}", f"torch.cat([one.{what} for one in {layers}])")
        w.do(f"{name} = «{stage}|torch.stack([f({x}) for f in {layers}], dim=1)»")
