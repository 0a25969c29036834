"""The MLP, and its activation."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer
from .attention import dropout


def width(w: Writer) -> str:
    """How the constructor says the width of the hidden layer."""
    if "hidden width" not in w.values:
        w.values["hidden width"] = w.choices.among("mlp", "ratio", "four times")
    way = w.values["hidden width"]
    if way == "mlp":
        return w.size("mlp")
    if way == "four times":
        return f"4 * {w.size('dim')}"
    return f"int({w.size('dim')} * {w.size('ratio')})"


def _weighed(w: Writer, first: str, second: str) -> None:
    for role, layer in (("fc1", first), ("fc2", second)):
        w.linear(role, layer)


def layers(w: Writer) -> tuple[str, str]:
    """Two linear layers."""
    hidden = width(w)
    first = w.layer("fc1", f"nn.Linear({w.size('dim')}, {hidden})")
    second = w.layer("fc2", f"nn.Linear({hidden}, {w.size('dim')})")
    _weighed(w, first, second)
    return first, second


@idiom("activation", often=6)
def gelu_layer(w: Writer, x: str) -> str:
    return f"{w.layer('act', 'nn.GELU()')}({x})"


@idiom("activation", often=4)
def gelu_function(w: Writer, x: str) -> str:
    w.uses("import torch.nn.functional as F")
    return f"F.gelu({x})"


@idiom("activation")
def gelu_by_erf(w: Writer, x: str) -> str:
    w.uses("import math")
    w.helpers["gelu"] = "def gelu(x):\n    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))"
    return f"gelu({x})"


@idiom("activation")
def gelu_by_tanh(w: Writer, x: str) -> str:
    w.facts.activation = "gelu-tanh"
    return f"""{w.layer("act", 'nn.GELU(approximate="tanh")')}({x})"""


@idiom("activation")
def relu(w: Writer, x: str) -> str:
    w.facts.activation = "relu"
    return f"torch.relu({x})"


@idiom("mlp", often=3)
def two_layers(w: Writer, x: str) -> str:
    n = w.n
    first, second = layers(w)
    w.do(f"{n.hidden} = «S17|{w.call('activation', f'{first}({x})')}»")
    if w.choices.once_in(2):
        w.do(f"{n.hidden} = {dropout(w, 'drop')}({n.hidden})")
    w.do(f"{n.branch} = «S18|{second}({n.hidden})»")
    if w.choices.once_in(3):
        w.do(f"{n.branch} = {dropout(w, 'drop')}({n.branch})")
    return n.branch


@idiom("mlp", often=2)
def nested(w: Writer, x: str) -> str:
    first, second = layers(w)
    inner = w.call("activation", f"{first}({x})")
    if w.choices.once_in(2):
        return f"«S18|{dropout(w, 'drop')}({second}({dropout(w, 'drop')}(«S17|{inner}»)))»"
    return f"«S18|{second}(«S17|{inner}»)»"


@idiom("mlp", often=4)
def sequential(w: Writer, x: str) -> str:
    hidden, dim = width(w), w.size("dim")
    dropped = w.choices.once_in(2) and w.size("dropout")
    parts = [f"nn.Linear({dim}, {hidden})", "nn.GELU()", f"nn.Linear({hidden}, {dim})"]
    if dropped:
        parts = [*parts[:2], f"nn.Dropout({dropped})", parts[2], f"nn.Dropout({dropped})"]
    broken = ",\n    ".join(parts)
    made = w.layer("ffn", f"nn.Sequential(\n    {broken}{w.choices.among(',', '')}\n)")
    _weighed(w, f"{made}[0]", f"{made}[{3 if dropped else 2}]")
    return f"«S18|{made}({x})»"


@idiom("mlp")
def convolutional(w: Writer, x: str) -> str:
    n, hidden = w.n, width(w)
    first = w.layer("fc1", f"nn.Conv1d({w.size('dim')}, {hidden}, 1)")
    second = w.layer("fc2", f"nn.Conv1d({hidden}, {w.size('dim')}, 1)")
    for role, layer in (("fc1", first), ("fc2", second)):
        w.linear(role, layer, ".squeeze(-1)")
    w.do(f"{n.hidden} = «S17|{w.call('activation', f'{first}({x}.transpose(1, 2))')}»")
    w.do(f"{n.branch} = «S18|{second}({n.hidden}).transpose(1, 2)»")
    return n.branch


@idiom("mlp")
def matrices(w: Writer, x: str) -> str:
    n, hidden, dim = w.n, width(w), w.size("dim")
    first = w.layer("fc1", f"nn.Parameter(torch.randn({dim}, {hidden}) * 0.02)")
    second = w.layer("fc2", f"nn.Parameter(torch.randn({hidden}, {dim}) * 0.02)")
    w.make(f"self.b1 = nn.Parameter(torch.zeros({hidden}))")
    w.make(f"self.b2 = nn.Parameter(torch.zeros({dim}))")
    for role, matrix, bias in (("fc1", first, "self.b1"), ("fc2", second, "self.b2")):
        w.weight(f"{role}.weight", f"{matrix}.T")
        w.weight(f"{role}.bias", bias)
    w.do(f"{n.hidden} = «S17|{w.call('activation', f'{x} @ {first} + self.b1')}»")
    return f"«S18|{n.hidden} @ {second} + self.b2»"
