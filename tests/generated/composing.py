"""Composes a right program from drawn idioms."""

from __future__ import annotations

from . import (
    idioms,  # noqa: F401  # registers them
    tidying,
)
from .drawing import Below, idiom
from .idioms import sizes
from .program import Program, laid_out
from .writing import SIZES, Scope, Writer

_VALUES = (  # image, patch, channels, dim, depth, heads, mlp, ratio, classes, dropout
    (224, 16, 3, 768, 12, 12, 3072, "4.0", 1000, "0.1"),
    (224, 16, 3, 768, 12, 12, 3072, "4.0", 1000, "0.0"),
    (224, 16, 3, 768, 12, 12, 3072, "4", 1000, "0.1"),
    (224, 16, 3, 768, 12, 12, 3072, "4", 10, "0.0"),
    (32, 4, 3, 192, 6, 8, 768, "4", 10, "0.1"),
    (224, 16, 3, 192, 12, 3, 768, "4.0", 1000, "0.0"),
    (64, 8, 3, 128, 4, 4, 512, "4.0", 200, "0.1"),
    (32, 8, 3, 64, 4, 4, 256, "4", 100, "0.2"),
)


def right_model(below: Below) -> Program:
    """A right Vision Transformer."""
    w = Writer(below)
    _values(w)
    sizes.choose(w)
    _shape(w)
    with w.writing("vit") as scope:
        n = w.n
        x = w.named(n.positioned, w.part("embedding", "embed", "Embed", n.x))
        x = w.named(n.encoded, _encoded(w, x))
        returned = w.call(_returned(w), w.call(_readout(w), x))
        scope.base = w.call("base") if scope.base == "nn.Module" else scope.base
        w.finish(scope, n.x, returned, lambda: sizes.parameters(w, scope))
    return _composed(w, scope)


def right_program(below: Below) -> Program:
    """A right model, or sometimes a part of one."""
    return right_part(below) if below(10) == 9 else right_model(below)


def right_part(below: Below) -> Program:
    """Attention, an MLP or an embedding alone."""
    w = Writer(below)
    _values(w)
    sizes.choose(w)
    slot, name = (("attention", "Attention"), ("mlp", "MLP"), ("embedding", "Embed"))[below(3)]
    w.facts.part = slot
    w.facts.token = True
    with w.writing(name) as scope:
        w.finish(scope, w.n.seq, w.call(slot, w.n.seq), lambda: sizes.parameters(w, scope))
    return _composed(w, scope)


def _values(w: Writer) -> None:
    values = _VALUES[w.choices.below(len(_VALUES))]
    w.values.update({size: str(value) for size, value in zip(SIZES, values)})


def _shape(w: Writer) -> None:
    """Without a class token some programs read a mean, and some have one class that does all."""
    if w.choices.once_in(12):
        w.values["one class"] = "yes"
    if w.choices.once_in(8):
        w.facts.readout = "mean"
        w.facts.token = w.choices.once_in(2)
    elif w.choices.once_in(12):
        w.facts.readout = "mean of patches"


def _encoded(w: Writer, x: str) -> str:
    """Through the blocks, in the model's class or in one of its own."""
    n = w.n
    if w.choices.once_in(12):
        w.facts.norm_before = True
        from .idioms.norms import norm

        w.do(f"{n.encoded} = {norm(w, 'norm_pre')}({x})")
        x = n.encoded
    if "one class" in w.values:
        return w.call("encoder in one class", x)
    if not w.choices.once_in(4):
        return w.call("encoder", x)
    with w.writing("Encoder") as scope:
        result = w.call("encoder", n.seq)
        w.finish(scope, n.seq, result)
    return f"{w.child(scope, 'encoder')}({x})"


def _readout(w: Writer) -> str:
    """Only where a block ends with a norm, as the report's does, none is wanted before the head."""
    bare = w.facts.placement == "report" or (w.facts.placement == "post" and w.choices.once_in(2))
    return "readout without norm" if bare else "readout"


def _returned(w: Writer) -> str:
    """Only where the blocks gave their attention maps can they be returned."""
    return "returned with maps" if "maps" in w.scope.kept else "returned"


def _composed(w: Writer, scope: Scope) -> Program:
    before, entry = sizes.constants(w, scope)
    extra = w.call("extra", entry) if w.facts.part == "model" else ""
    classes = [text for _, text in w.classes]
    body = "\n\n\n".join(
        [*_joined(before), *w.helpers.values(), *classes, *w.after, *([extra] if extra else [])]
    )
    imports = tidying.imports(w.imports, body, w.call("order of imports"), w.choices.once_in(4))
    return laid_out(w, f"{imports}\n\n\n{body}\n", entry, scope)


@idiom("order of imports", often=3)
def torch_first(w: Writer) -> str:
    return "first"


@idiom("order of imports", often=2)
def imports_sorted(w: Writer) -> str:
    return "sorted"


def _joined(constants: list[str]) -> list[str]:
    """Single lines stand together."""
    return ["\n".join(constants)] if constants else []
