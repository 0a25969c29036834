"""Which classes and functions may be a component, as far as their names tell."""

from __future__ import annotations

from ...loading.definitions import Definition, Definitions
from ..calls.parameter_names import first_match

_HEAD = "^(?!.*att).*((class|cls|mlp|vit|out|final|predict|linear).*head|classifier)"
_SEVERAL, _ONE = "(mult|mehr|varia|plus)", "(head|kopf|tete|cabe[cz]a)"  # heads
_MODEL = ("vi(si|t)", "(transformer|model|net|classifi|encoder)(?!.*(block|layer|att))")
_NAMES: dict[str, tuple[str, ...]] = {  # patterns of names without underscores, the plainest first
    "patches": ("patchif|(image|img|to|in|cut|split|get|make|extract).*patches$|^patches$", "patch"),
    "patch_embedding": ("patch.*(emb|proj|tok)|emb.*patch", "patch|parche|tokeni[sz]|ima?ge?to"),
    "embedding": ("^(?!.*(patch|pos|cls|class)).*(emb|einbett|incrust|token)", "emb"),
    "class_token": ("cls|class.*tok", "prepend|addtok|tok.*pos"),
    "positions": ("pos",),
    "layer_norm": ("layernorm|^ln", "norm"),
    "layer_norm_plain": ("(no|non|without).*affine|plain|standardi[sz]e", "layernorm|^ln", "norm"),
    "attention": ("(multi|self).*att|mhsa|msa|mha", f"att|{_SEVERAL}.*{_ONE}|aufmerksam|aten[cç]"),
    "attention_head": (f"^(?!.*{_SEVERAL}).*{_ONE}$", "att"),
    "dot_product_attention": ("(scaled|dot).*(prod|att)|sdpa", "att|aufmerksam|aten[cç]"),
    "mlp": ("mlp|feedforward|ffn|^ff", "perce[pt]"),
    "block": (
        "(encoder|transformer|vit).*(block|layer)",
        "bloc|encoder|layer$|bloque|schicht|couche|camada|^capa",
    ),
    "encoder": ("encoder$|stack|blocks$|layers$", "encoder(?!.*(block|layer))|trunk|(?<!vision)transformer$"),
    "encoder_and_head": _MODEL,
    "model_of_patches": _MODEL,
    "head": (_HEAD, "readout|pool"),
    "classifier": (_HEAD,),
}
_PARTS_OF_A_MODEL = ("patch_embedding", "attention", "mlp", "block")
_MADE_OF = {"block": ("attention", "mlp"), "encoder": ("attention", "mlp", "block")}
_WHOLE = ("encoder_and_head", "model_of_patches")  # whose names are those of models, which say little
_SMALL = ("classifier",)  # which does what many a layer does


def named(definitions: Definitions, key: str) -> list[Definition]:
    """Those whose name says so, and those that are made of them alone, such as of single heads."""
    every = definitions.all.values()
    named = [one for one in every if is_named(one.name, key)]
    made = (one for one in every if one not in named and _says_nothing(one.name))
    return [*named, *(one for one in made if _is_made_of(one, key, definitions))]


def _is_made_of(definition: Definition, key: str, definitions: Definitions) -> bool:
    inside = [one for one in definitions.reachable(definition)[1:] if one.is_module]
    return bool(inside) and all(is_named(one.name, key) for one in inside)


def is_named(name: str, key: str) -> bool:
    return rank(name, key) < len(_NAMES[key])


def _says_nothing(name: str) -> bool:
    return not any(is_named(name, key) for key in _NAMES if key not in _WHOLE)


def rank(name: str, key: str) -> int:
    return first_match(name, _NAMES[key])


def may_be(definition: Definition, key: str, definitions: Definitions) -> bool:
    """Does its name say nothing, and is it made of no component but those that it has to be made of?"""
    if key in (*_SMALL, *_WHOLE):
        return False
    own = (key, *_MADE_OF.get(key, ()))
    others = [one for one in _PARTS_OF_A_MODEL if one not in own]
    inside = [one.name for one in definitions.reachable(definition)[1:]]
    is_made = any(is_named(name, other) for other in others for name in inside)
    is_head = key == "head" and is_named(definition.name, "attention_head")  # which of both, trying tells
    return not is_made and (is_head or _says_nothing(definition.name))
