"""LayerNorm, of the library and by hand. One program has one kind, and one eps."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer


def norm(w: Writer, what: str) -> str:
    """A norm as an attribute; the expression to call."""
    layer = w.layer(what, made(w, what))
    weigh(w, what, layer)
    return layer


def made(w: Writer, what: str) -> str:
    """The expression that makes a norm."""
    if "norm" not in w.values:
        w.values["norm"] = w.call("norm")
    w.facts.eps[what] = float(w.values["eps"])
    return w.values["norm"].replace("DIM", w.size("dim"))


def weigh(w: Writer, what: str, layer: str) -> None:
    gain, shift = w.values["affine"].split()
    w.weight(f"{what}.weight", f"{layer}.{gain}")
    w.weight(f"{what}.bias", f"{layer}.{shift}")


def _told(w: Writer, eps: str, affine: str = "weight bias") -> None:
    w.values.update(eps=eps, affine=affine)


@idiom("norm", often=5)
def plain_norm(w: Writer) -> str:
    _told(w, "1e-5")
    return "nn.LayerNorm(DIM)"


@idiom("norm", often=3)
def norm_with_eps(w: Writer) -> str:
    eps = w.choices.among("1e-6", "1e-6", "1e-5", "1e-12")
    _told(w, eps)
    return f"nn.LayerNorm(DIM, eps={eps})"


@idiom("norm")
def norm_of_a_shape(w: Writer) -> str:
    _told(w, "1e-5")
    return w.choices.among("nn.LayerNorm([DIM])", "nn.LayerNorm(normalized_shape=DIM)")


@idiom("norm")
def norm_by_hand(w: Writer) -> str:
    name = w.n.Norm
    gain, shift = w.choices.among("weight bias", "gamma beta", "g b", "scale shift").split()
    biased = w.choices.among("unbiased=False", "correction=0")
    w.helpers[name] = (
        f"class {name}(nn.Module):\n"
        "    def __init__(self, features, eps=1e-6):\n"
        "        super().__init__()\n"
        f"        self.{gain} = nn.Parameter(torch.ones(features))\n"
        f"        self.{shift} = nn.Parameter(torch.zeros(features))\n"
        "        self.eps = eps\n\n"
        "    def forward(self, x):\n"
        "        mean = x.mean(dim=-1, keepdim=True)\n"
        f"        var = x.var(dim=-1, keepdim=True, {biased})\n"
        f"        return self.{gain} * (x - mean) / torch.sqrt(var + self.eps) + self.{shift}"
    )
    _told(w, "1e-6", f"{gain} {shift}")
    return f"{name}(DIM)"


@idiom("norm")
def norm_in_one_operation(w: Writer) -> str:
    """Multiplied and added at once, which reads the bias first."""
    w.uses("import torch.nn.functional as F")
    name = w.n.Norm
    w.helpers[name] = (
        f"class {name}(nn.Module):\n"
        "    def __init__(self, features):\n"
        "        super().__init__()\n"
        "        self.gain, self.shift = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features))\n\n"
        "    def forward(self, x):\n"
        "        return torch.addcmul(self.shift, F.layer_norm(x, x.shape[-1:]), self.gain)"
    )
    _told(w, "1e-5", "gain shift")
    return f"{name}(DIM)"
