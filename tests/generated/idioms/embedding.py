"""From the image to tokens with positions."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer
from .attention import rate
from .positions import count


def side(w: Writer) -> str:
    """The patch side, as forward says it."""
    return w.keep("patch", w.size("patch"))


def _convolution(w: Writer, bias: str = "") -> str:
    keys = w.choices.once_in(2)
    patch = w.size("patch")
    last = f"kernel_size={patch}, stride={patch}" if keys else f"{patch}, {patch}"
    layer = w.layer("proj", f"nn.Conv2d({w.size('channels')}, {w.size('dim')}, {last}{bias})")
    w.linear("patch", layer, ".flatten(1)")
    return layer


@idiom("patching", often=8)
def convolved(w: Writer, x: str) -> str:
    turned = w.choices.among("transpose(1, 2)", "permute(0, 2, 1)", "mT")
    return f"«S04|{_convolution(w)}({x}).flatten(2).{turned}»"


@idiom("patching", often=2)
def convolved_step_by_step(w: Writer, x: str) -> str:
    n, layer = w.n, _convolution(w, w.choices.among("", ", bias=False"))
    w.do(f"{n.embedded} = {layer}({x})")
    w.do(
        f"{n.embedded} = {w.choices.among(f'torch.flatten({n.embedded}, 2)', f'{n.embedded}.flatten(start_dim=2)')}"
    )
    w.do(f"{n.embedded} = «S04|{n.embedded}.permute(0, 2, 1)»")
    return n.embedded


@idiom("patching")
def convolved_and_cut(w: Writer, x: str) -> str:
    n, layer = w.n, _convolution(w)
    w.do(f"{n.embedded} = {layer}({x})")
    w.do(f"{n.B}, {n.chan}, {n.h_}, {n.w_} = {n.embedded}.shape")
    return f"«S04|{n.embedded}.view({n.B}, {n.chan}, {n.h_} * {n.w_}).transpose(1, 2)»"


@idiom("patching")
def convolved_and_rearranged(w: Writer, x: str) -> str:
    w.uses("from einops import rearrange")
    return f"«S04|rearrange({_convolution(w)}({x}), 'b c h w -> b (h w) c')»"


@idiom("patching")
def convolved_in_a_sequence(w: Writer, x: str) -> str:
    patch, dim = w.size("patch"), w.size("dim")
    made = w.layer(
        "proj",
        f"nn.Sequential(\n    nn.Conv2d({w.size('channels')}, {dim}, kernel_size={patch}, stride={patch}),\n    nn.Flatten(2),\n)",
    )
    w.weight("patch.weight", f"{made}[0].weight.flatten(1)")
    w.weight("patch.bias", f"{made}[0].bias")
    return f"«S04|{made}({x}).transpose(1, 2)»"


def _linear(w: Writer, order: str = "") -> str:
    dim, patch, channels = w.size("dim"), w.size("patch"), w.size("channels")
    count = w.choices.among(
        f"{channels} * {patch} * {patch}", f"{patch} * {patch} * {channels}", f"{channels} * {patch} ** 2"
    )
    layer = w.layer("proj", f"nn.Linear({count}, {dim})")
    w.linear("patch", layer, order)
    return layer


_CHANNEL_LAST = ".unflatten(1, (P, P, C)).permute(0, 3, 1, 2).flatten(1)"


@idiom("patching", often=3)
def unfolded_twice(w: Writer, x: str) -> str:
    n, layer, p = w.n, _linear(w), side(w)
    w.do(f"{n.B}, {n.chan} = {x}.shape[0], {x}.shape[1]")
    w.do(f"{n.patches} = {x}.unfold(2, {p}, {p}).unfold(3, {p}, {p})")
    w.do(f"{n.patches} = «S02|{n.patches}.permute(0, 2, 3, 1, 4, 5).reshape({n.B}, -1, {n.chan}, {p}, {p})»")
    w.do(
        f"{n.flat} = «S03|{n.patches}.{w.choices.among('flatten(2)', f'reshape({n.B}, {n.patches}.shape[1], -1)')}»"
    )
    return f"«S04|{layer}({n.flat})»"


@idiom("patching", often=2)
def library_unfold(w: Writer, x: str) -> str:
    w.uses("import torch.nn.functional as F")
    n, layer, p = w.n, _linear(w), side(w)
    w.do(f"{n.flat} = «S03|F.unfold({x}, kernel_size={p}, stride={p}).transpose(1, 2)»")
    return f"«S04|{layer}({n.flat})»"


@idiom("patching")
def unfold_layer(w: Writer, x: str) -> str:
    p, n = w.size("patch"), w.n
    cut = w.layer("unfold", f"nn.Unfold(kernel_size={p}, stride={p})")
    layer = _linear(w)
    w.do(f"{n.flat} = «S03|{cut}({x}).permute(0, 2, 1)»")
    return f"«S04|{layer}({n.flat})»"


@idiom("patching", often=2)
def reshaped(w: Writer, x: str) -> str:
    n, layer, p = w.n, _linear(w), side(w)
    w.do(f"{n.B}, {n.chan}, {n.h_}, {n.w_} = {x}.shape")
    w.do(f"{n.patches} = {x}.reshape({n.B}, {n.chan}, {n.h_} // {p}, {p}, {n.w_} // {p}, {p})")
    w.do(f"{n.patches} = «S02|{n.patches}.permute(0, 2, 4, 1, 3, 5).flatten(1, 2)»")
    w.do(f"{n.flat} = «S03|{n.patches}.flatten(2)»")
    return f"«S04|{layer}({n.flat})»"


@idiom("patching")
def channels_last(w: Writer, x: str) -> str:
    n, layer, p = w.n, _linear(w, _CHANNEL_LAST), side(w)
    w.do(f"{n.B}, {n.chan}, {n.h_}, {n.w_} = {x}.shape")
    w.do(f"{n.patches} = {x}.view({n.B}, {n.chan}, {n.h_} // {p}, {p}, {n.w_} // {p}, {p})")
    w.do(f"{n.flat} = «S03|{n.patches}.permute(0, 2, 4, 3, 5, 1).reshape({n.B}, -1, {p} * {p} * {n.chan})»")
    return f"«S04|{layer}({n.flat})»"


@idiom("patching")
def turned_to_channels_last(w: Writer, x: str) -> str:
    n, layer, p = w.n, _linear(w, _CHANNEL_LAST), side(w)
    w.do(f"{n.patches} = {x}.permute(0, 2, 3, 1)")
    w.do(f"{n.B}, {n.h_}, {n.w_}, {n.chan} = {n.patches}.shape")
    w.do(f"{n.patches} = {n.patches}.reshape({n.B}, {n.h_} // {p}, {p}, {n.w_} // {p}, {p}, {n.chan})")
    w.do(f"{n.flat} = «S03|{n.patches}.transpose(2, 3).reshape({n.B}, -1, {p} * {p} * {n.chan})»")
    return f"«S04|{layer}({n.flat})»"


@idiom("patching", often=2)
def rearranged_channels_last(w: Writer, x: str) -> str:
    w.uses("from einops import rearrange")
    n, layer, p = w.n, _linear(w, _CHANNEL_LAST), side(w)
    w.do(f"{n.flat} = «S03|rearrange({x}, 'b c (h p1) (w p2) -> b (h w) (p1 p2 c)', p1={p}, p2={p})»")
    return f"«S04|{layer}({n.flat})»"


@idiom("patching")
def sliced_in_loops(w: Writer, x: str) -> str:
    n, layer, p = w.n, _linear(w), side(w)
    w.do(f"{n.patches} = []")
    cut = f"{x}[:, :, {n.h_}:{n.h_} + {p}, {n.w_}:{n.w_} + {p}]"
    w.do(
        f"for {n.h_} in range(0, {x}.shape[2], {p}):\n"
        f"    for {n.w_} in range(0, {x}.shape[3], {p}):\n"
        f"        {n.patches}.append({cut}.reshape({x}.shape[0], -1))"
    )
    w.do(f"{n.flat} = «S03|torch.stack({n.patches}, dim=1)»")
    return f"«S04|{layer}({n.flat})»"


def _token(w: Writer, shape: str) -> str:
    dim = w.size("dim")
    shape = shape.replace("D", dim)
    made = w.choices.among(
        f"torch.zeros({shape})",
        f"torch.randn({shape})",
        f"torch.randn({shape}) * 0.02",
        f"torch.empty({shape}).normal_(std=0.02)",
    )
    token = w.layer("cls_token", f"nn.Parameter({made})")
    w.weight("token", token)
    return token


@idiom("token", often=5)
def expanded(w: Writer, x: str) -> str:
    token = _token(w, "1, 1, D")
    return f"{token}.expand({x}.{w.choices.among('shape[0]', 'size(0)')}, -1, -1)"


@idiom("token", often=2)
def repeated(w: Writer, x: str) -> str:
    return f"{_token(w, '1, 1, D')}.repeat({x}.shape[0], 1, 1)"


@idiom("token")
def repeated_by_einops(w: Writer, x: str) -> str:
    w.uses("from einops import repeat")
    return f"repeat({_token(w, '1, 1, D')}, '1 1 d -> b 1 d', b=len({x}))"


@idiom("token")
def vector(w: Writer, x: str) -> str:
    return f"{_token(w, 'D')}.expand({x}.shape[0], 1, -1)"


@idiom("token")
def tiled_matrix(w: Writer, x: str) -> str:
    return f"torch.cat([{_token(w, '1, D')}.unsqueeze(0)] * {x}.shape[0], dim=0)"


def with_token(w: Writer, x: str) -> str:
    """The tokens and the class token in front of them."""
    n = w.n
    w.do(f"{n.cls} = «S05|{w.call('token', x)}»")
    w.do(
        f"{n.with_cls} = «S06|{w.choices.among(f'torch.cat(({n.cls}, {x}), dim=1)', f'torch.cat([{n.cls}, {x}], 1)', f'torch.concat([{n.cls}, {x}], dim=1)')}»"
    )
    return n.with_cls


@idiom("embedding", often=8)
def token_then_positions(w: Writer, x: str) -> str:
    n = w.n
    w.assign(n.embedded, w.part("patching", "patch_embed", "Patch", x))
    last = n.embedded if not w.facts.token else with_token(w, n.embedded)
    last = w.named(n.positioned, f"«S07|{w.call('positions', last)}»")
    if w.choices.once_in(3):
        w.do(f"{n.positioned} = {w.layer('pos_drop', f'nn.Dropout({rate(w)})')}({last})")
        return n.positioned
    return last


@idiom("embedding")
def positions_in_pieces(w: Writer, x: str) -> str:
    w.facts.token = True
    n = w.n
    w.assign(n.embedded, w.part("patching", "patch_embed", "Patch", x))
    table = w.layer("pos", f"nn.Parameter(torch.randn(1, {count(w, 1)}, {w.size('dim')}) * 0.02)")
    w.weight("positions", f"{table}[0]")
    w.do(f"{n.embedded} = {n.embedded} + {table}[:, 1:]")
    w.do(f"{n.cls} = {w.call('token', n.embedded)} + {table}[:, :1]")
    w.do(f"{n.positioned} = «S07|torch.cat([{n.cls}, {n.embedded}], dim=1)»")
    return n.positioned
