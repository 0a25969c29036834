"""From the last block to the class scores, and what is returned."""

from __future__ import annotations

from ..drawing import idiom
from ..writing import Writer
from .norms import made, norm, weigh


def _read(w: Writer, x: str) -> str:
    """Pick what is classified out of the final sequence."""
    if w.facts.readout == "token":
        return f"{x}{w.choices.among('[:, 0]', '[:, 0]', '[:, 0, :]', '.select(1, 0)')}"
    if w.facts.readout == "mean of patches":
        return f"{x}[:, 1:].mean(dim=1)"
    return w.choices.among(f"{x}.mean(dim=1)", f"torch.mean({x}, dim=1)", f"{x}.mean(1)")


def _classifier(w: Writer) -> str:
    layer = w.layer("head", f"nn.Linear({w.size('dim')}, {w.size('classes')})")
    w.linear("head", layer)
    return layer


@idiom("readout", often=5)
def norm_then_read(w: Writer, x: str) -> str:
    n = w.n
    normed, head = norm(w, "norm"), _classifier(w)
    w.do(f"{n.encoded} = «S23|{normed}(«S22|{x}»)»")
    w.do(f"{n.pooled} = «S24|{_read(w, n.encoded)}»")
    return f"«S25|{head}({n.pooled})»"


@idiom("readout", often=3)
def read_then_norm(w: Writer, x: str) -> str:
    w.facts.final_norm = "representation"
    normed, head = norm(w, "norm"), _classifier(w)
    return f"«S25|{head}(«S24|{normed}({_read(w, f'«S22|{x}»')})»)»"


@idiom("readout", often=2)
def head_with_norm(w: Writer, x: str) -> str:
    w.facts.final_norm = "representation"
    layers = f"{made(w, 'norm')},\n    nn.Linear({w.size('dim')}, {w.size('classes')})"
    head = w.layer("head", f"nn.Sequential(\n    {layers}\n)")
    weigh(w, "norm", f"{head}[0]")
    for what in ("weight", "bias"):
        w.weight(f"head.{what}", f"{head}[1].{what}")
    w.do(f"{w.n.pooled} = {_read(w, f'«S22|{x}»')}")
    return f"«S25|{head}({w.n.pooled})»"


@idiom("readout without norm")
def without_final_norm(w: Writer, x: str) -> str:
    w.facts.final_norm = None
    head = _classifier(w)
    w.do(f"{w.n.pooled} = «S24|{_read(w, f'«S22|{x}»')}»")
    return f"«S25|{head}({w.n.pooled})»"


@idiom("readout")
def projection_matrix(w: Writer, x: str) -> str:
    w.facts.final_norm = "representation"
    normed = norm(w, "norm")
    matrix = w.layer(
        "out_matrix",
        f"nn.Parameter({w.size('dim')} ** -0.5 * torch.randn({w.size('dim')}, {w.size('classes')}))",
    )
    w.weight("head.weight", f"{matrix}.T")
    w.do(f"{w.n.pooled} = «S24|{normed}({_read(w, f'«S22|{x}»')})»")
    return f"«S25|{w.n.pooled} @ {matrix}»"


@idiom("returned", often=8)
def logits_alone(w: Writer, logits: str) -> str:
    return logits


@idiom("returned", often=2)
def named_logits(w: Writer, logits: str) -> str:
    w.do(f"{w.n.logits} = {logits}")
    return w.n.logits


@idiom("returned")
def with_probabilities(w: Writer, logits: str) -> str:
    w.facts.logits = "{out}[0]"
    w.do(f"{w.n.logits} = {logits}")
    w.do(f"{w.n.probs} = «S26|{w.n.logits}.softmax(dim=-1)»")
    return f"{w.n.logits}, {w.n.probs}"


@idiom("returned")
def dictionary(w: Writer, logits: str) -> str:
    w.facts.logits = '{out}["logits"]'
    w.do(f"{w.n.logits} = {logits}")
    return f'{{"logits": {w.n.logits}, "probs": «S26|torch.softmax({w.n.logits}, dim=1)»}}'


@idiom("returned")
def data_class(w: Writer, logits: str) -> str:
    w.facts.logits = "{out}.logits"
    w.uses("from dataclasses import dataclass")
    w.helpers["Output"] = "@dataclass\nclass Output:\n    logits: torch.Tensor\n    probs: torch.Tensor"
    w.do(f"{w.n.logits} = {logits}")
    return f"Output(logits={w.n.logits}, probs=«S26|{w.n.logits}.softmax(-1)»)"


@idiom("returned with maps", often=2)
def logits_and_maps(w: Writer, logits: str) -> str:
    w.facts.logits = "{out}[0]"
    return f"{logits}, {w.scope.kept['maps']}"


@idiom("returned with maps")
def dictionary_with_maps(w: Writer, logits: str) -> str:
    w.facts.logits = '{out}["logits"]'
    return f'{{"logits": {logits}, "attentions": {w.scope.kept["maps"]}}}'
