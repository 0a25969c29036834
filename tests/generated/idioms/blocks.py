"""The block: where its norms stand, and how its skips are written."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer
from .attention import packed_weights
from .mlp import width
from .norms import norm


def attend(w: Writer, x: str) -> str:
    return w.part("attention", "attn", "Attention", x)


def feed(w: Writer, x: str) -> str:
    return w.part("mlp", "ffn", "MLP", x)


def _sum(w: Writer, one: str, other: str) -> str:
    return w.choices.among(
        f"{one} + {other}", f"{one} + {other}", f"{other} + {one}", f"torch.add({one}, {other})"
    )


@idiom("block", often=6)
def pre_norm(w: Writer, x: str) -> str:
    norm1, norm2 = norm(w, "norm1"), norm(w, "norm2")
    w.do(f"{x} = {_sum(w, x, attend(w, f'{norm1}({x})'))}")
    w.do(f"{x} = «S20|{_sum(w, x, feed(w, f'«S16|{norm2}({x})»'))}»")
    return x


@idiom("block", often=4)
def pre_norm_step_by_step(w: Writer, x: str) -> str:
    n, norm1, norm2 = w.n, norm(w, "norm1"), norm(w, "norm2")
    w.do(f"{n.normed} = {norm1}({x})")
    w.assign(n.result, attend(w, n.normed))
    w.do(f"{n.attended} = {_sum(w, x, n.result)}")
    w.do(f"{n.normed} = «S16|{norm2}({n.attended})»")
    w.assign(n.branch, feed(w, n.normed))
    w.do(f"{n.block_out} = «S20|{_sum(w, n.attended, n.branch)}»")
    return n.block_out


@idiom("block", often=3)
def pre_norm_with_residual(w: Writer, x: str) -> str:
    n = w.n
    for index, part in enumerate((attend, feed), start=1):
        w.do(f"{n.skip} = {x}")
        w.do(f"{x} = " + (f"«S16|{norm(w, 'norm2')}({x})»" if index == 2 else f"{norm(w, 'norm1')}({x})"))
        total = _sum(w, n.skip, part(w, x))
        w.do(f"{x} = " + (f"«S20|{total}»" if index == 2 else total))
    return x


@idiom("block", often=2)
def pre_norm_in_place(w: Writer, x: str) -> str:
    n, norm1, norm2 = w.n, norm(w, "norm1"), norm(w, "norm2")
    w.do(f"{n.block_out} = {attend(w, f'{norm1}({x})')}")
    w.do(f"{n.block_out} += {x}")
    w.do(f"{n.branch} = {feed(w, f'«S16|{norm2}({n.block_out})»')}")
    w.do(f"{n.branch} += {n.block_out}")
    return f"«S20|{n.branch}»"


@idiom("block", often=2)
def residual_modules(w: Writer, x: str) -> str:
    name = w.n.Residual
    w.helpers[name] = (
        f"class {name}(nn.Module):\n"
        "    def __init__(self, norm, fn):\n"
        "        super().__init__()\n"
        "        self.norm = norm\n"
        "        self.fn = fn\n\n"
        "    def forward(self, x, **kwargs):\n"
        "        return self.fn(self.norm(x), **kwargs) + x"
    )
    for what, slot, attribute, other in (
        ("norm1", "attention", "attn", "Attention"),
        ("norm2", "mlp", "ffn", "MLP"),
    ):
        with w.writing("Block") as scope:  # what it makes becomes arguments
            norm(w, what)
            w.part(slot, attribute, other, "", inline=False)
        w.adopt(scope)
        made, values = zip(*(line.split(" = ", 1) for line in scope.makes))
        layer = w.layer(attribute, f"{name}({', '.join(values)})")
        for role, expression in scope.weights.items():
            own = (made[0], "norm") if role.startswith("norm") else (made[1], "fn")
            w.weight(role, expression.replace(f"{own[0]}.", f"{layer}.{own[1]}."))
        w.do(f"{x} = {layer}({x})" if attribute == "attn" else f"{x} = «S20|{layer}({x})»")
    return x


@idiom("block")
def residual_of_a_base(w: Writer, x: str) -> str:
    """The skip is a method that the block inherits."""
    w.helpers["BaseBlock"] = (
        "class BaseBlock(nn.Module):\n"
        "    def residual(self, x, layer, norm):\n"
        "        return x + layer(norm(x))"
    )
    w.scope.base = "BaseBlock"
    layers = [
        (w.alone(slot, attribute, name), norm(w, what))
        for slot, attribute, name, what in (
            ("attention", "attn", "Attention", "norm1"),
            ("mlp", "ffn", "MLP", "norm2"),
        )
    ]
    (attention, norm1), (mlp, norm2) = layers
    w.do(f"{x} = self.residual({x}, {attention}, {norm1})")
    w.do(f"{x} = «S20|self.residual({x}, {mlp}, {norm2})»")
    return x


@idiom("block", often=2)
def sandwich(w: Writer, x: str) -> str:
    """A norm before each part and one after it."""
    w.facts.placement = "both"
    n = w.n
    before, after = norm(w, "norm1"), norm(w, "norm1_after")
    w.assign(n.result, attend(w, f"{before}({x})"))
    w.do(f"{x} = {_sum(w, x, f'{after}({n.result})')}")
    before, after = norm(w, "norm2"), norm(w, "norm2_after")
    w.assign(n.branch, feed(w, f"«S16|{before}({x})»"))
    w.do(f"{x} = «S20|{_sum(w, x, f'{after}({n.branch})')}»")
    return x


@idiom("block", often=2)
def layer_scale(w: Writer, x: str) -> str:
    """What each part gives, times a learned vector."""
    one, two = (w.layer(what, f"nn.Parameter(torch.ones({w.size('dim')}))") for what in ("scale1", "scale2"))
    w.weight("scale1", one)
    w.weight("scale2", two)
    norm1, norm2 = norm(w, "norm1"), norm(w, "norm2")
    w.assign(w.n.result, attend(w, f"{norm1}({x})"))
    w.do(f"{x} = {_sum(w, x, f'{one} * {w.n.result}')}")
    w.assign(w.n.branch, feed(w, f"«S16|{norm2}({x})»"))
    w.do(f"{x} = «S20|{_sum(w, x, f'{two} * {w.n.branch}')}»")
    return x


@idiom("block", often=2)
def post_norm(w: Writer, x: str) -> str:
    w.facts.placement = "post"
    norm1, norm2 = norm(w, "norm1"), norm(w, "norm2")
    w.do(f"{x} = «S16|{norm1}({_sum(w, x, attend(w, x))})»")
    w.do(f"{x} = «S20|{norm2}({_sum(w, x, feed(w, x))})»")
    return x


@idiom("block", often=3)
def report(w: Writer, x: str) -> str:
    w.facts.placement = "report"
    n = w.n
    norm1, norm2, norm3 = norm(w, "norm1"), norm(w, "norm2"), norm(w, "norm3")
    w.do(f"{n.skip} = {x}")
    w.assign(n.result, attend(w, f"{norm1}({x})"))
    w.do(f"{n.attended} = {n.skip} + {n.result}")
    w.do(f"{n.normed} = «S16|{norm2}({n.attended})»")
    w.assign(n.branch, feed(w, n.normed))
    w.do(f"{n.block_out} = «S20|{norm3}({n.normed} + {n.branch})»")
    return n.block_out


@idiom("block")
def library_layer(w: Writer, x: str) -> str:
    layer = w.layer("encoder", encoder_layer(w))
    library_weights(w, layer)
    return f"«S20|{layer}({x})»"


def encoder_layer(w: Writer) -> str:
    """The library's layer, with the paper's settings."""
    hidden = width(w)
    return (
        f"nn.TransformerEncoderLayer(d_model={w.size('dim')}, nhead={w.size('heads')}, dim_feedforward={hidden}, "
        f"dropout={w.choices.among('0.1', '0.0')}, activation='gelu', batch_first=True, norm_first=True)"
    )


def library_weights(w: Writer, layer: str) -> None:
    """Where the library's layer keeps its weights."""
    packed_weights(w, f"{layer}.self_attn")
    for role, attribute in (("fc1", "linear1"), ("fc2", "linear2"), ("norm1", "norm1"), ("norm2", "norm2")):
        for what in ("weight", "bias"):
            w.weight(f"{role}.{what}", f"{layer}.{attribute}.{what}")
