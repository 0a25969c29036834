"""Child side: a component written as a function, given its parameters as tensors or as layers."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from .....reference.components import COMPONENTS
from .....reference.sizes import Sizes
from ....errors import NotLoaded
from ...loading.definitions import Definition, Definitions
from ...loading.text_keys import read_by
from ..arguments.argument_choices import choices
from ..calls.blueprint import value

Make = Callable[[Sizes], object]

_MOST_WAYS = 64
_COUNTED = "heads", "patch", "embed_dim", "mlp_dim", "classes"  # that functions may ask for
_BIAS = re.compile(r"b|b[\d_]\w*|b(q|k|v|o|qkv)|\w*_b\d?|\w*bias\w*|\w*beta\w*|\w*shift\w*")

# Patterns of names, and the shapes that weight and bias may have, as letters of `Sizes.axes`.
_NORM_INSIDE = (r"norm|ln|gamma|beta", ("D",), ("D",))
_NORM = ((r"gamma|scale|weight|gain|alpha|[gw]$", ("D",), ("D",)), (r"b|shift", (), ("D",)))
_QKV = (r"qkv", ("D 3D", "3D D"), ("3D",))
_MAP = (
    r"(^|_)(w|b|weight|bias)?_?[qkvo](_|$|w|b|proj)|query|key|value|proj|out|^w|weight|bias",
    ("D D",),
    ("D",),
)
_MLP = (
    (r"2|out|down|proj", ("M D", "D M"), ("D",)),
    (r"1|in|up|fc|hidden", ("D M", "M D"), ("M",)),
)
_HEAD = (
    _NORM_INSIDE,
    (r"w|head|fc|linear|matrix|b", ("K D", "D K"), ("K",)),
)
_PATCH = (r"w|kernel|proj|emb|conv|filter|matrix|linear|b", ("D C P P", "F D", "D F"), ("D",))
_TOKEN = (r"cls|class|token", ("1 1 D", "1 D", "D"), ())
_TABLE = ("1 T D", "T D"), ()
_PARAMETERS: dict[str, tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]] = {
    "patches": (),
    "patch_embedding": (_PATCH,),
    "class_token": (_TOKEN,),
    "positions": ((r"pos|emb|table|encod|p$", *_TABLE),),
    "embedding": (_TOKEN, (r"pos|table", *_TABLE), _PATCH),
    "layer_norm": _NORM,
    "layer_norm_plain": (),
    "attention": (_NORM_INSIDE, _QKV, _MAP),
    "attention_head": (_NORM_INSIDE, (_MAP[0], ("D d",), ("d",))),
    "dot_product_attention": (),
    "mlp": (_NORM_INSIDE, *_MLP),
    "block": (
        _NORM_INSIDE,
        _QKV,
        (r"2|mlp_?out|down", ("M D", "D M"), ("D",)),
        (r"1|mlp|fc|up|ff", ("D M", "M D"), ("M",)),
        _MAP,
    ),
    "encoder": (),
    "encoder_and_head": (),
    "model_of_patches": (),
    "head": _HEAD,
    "classifier": _HEAD,
}


class FunctionModule(nn.Module):
    """Calls ``function`` with its inputs and what it was given beside them, some of that in dictionaries."""

    def __init__(
        self, function: Callable[..., object], inputs: Sequence[str], arguments: dict[str, object]
    ) -> None:
        super().__init__()
        self._function, self.inputs, self._arguments = function, inputs, arguments
        for name, one in arguments.items():
            for key, each in one.items() if isinstance(one, dict) else [("", one)]:
                if isinstance(each, (nn.Parameter, nn.Module)):
                    setattr(self, f"arg_{name}_{key}".replace(".", "_"), each)

    def forward(self, *given: Tensor) -> object:
        return self._function(**dict(zip(self.inputs, given, strict=True)), **self._arguments)


def function_ways(
    definition: Definition, definitions: Definitions, key: str
) -> Iterator[Callable[[Sizes], nn.Module]]:
    """Yield ways to call the function as component ``key``: its first arguments are the inputs.

    What a name that says nothing means, trying tells. Raises NotLoaded where nothing can be made up for it.
    """
    if _is_of_arrays(definition):
        raise NotLoaded(f"{definition.name} computes with NumPy, and not with tensors", definition.frame)
    count = COMPONENTS[key].inputs
    every = _parameters(definition, count)
    inputs, others = [one.name for one in every[:count]], every[count:]
    keys = read_by(definition, definitions)
    read = {one.name: sorted(text for held, text in keys if held == one.name) for one in others}
    options = {one.name: makes for one in others if (makes := _makes(definition, one, read[one.name], key))}
    for as_layers in (False, True):
        sets = [[one for one in makes if _is_layer(one) in (None, as_layers)] for makes in options.values()]
        for way in itertools.islice(itertools.product(*sets), _MOST_WAYS):
            yield _calling(definition, inputs, dict(zip(options, way, strict=True)))


def _is_of_arrays(definition: Definition) -> bool:
    """Is it written for NumPy's arrays, of which torch takes some in another way, such as variances?"""
    code, names = definition.value.__code__, definition.value.__globals__  # type: ignore[attr-defined]  # a function
    read = [names.get(name) for name in code.co_names]
    keywords = {one.arg for one in ast.walk(definition.node) if isinstance(one, ast.keyword)}
    return any(one is np for one in read) and torch not in read and bool(keywords & {"axis", "keepdims"})


def _parameters(definition: Definition, inputs: int) -> list[inspect.Parameter]:
    every = inspect.signature(definition.value).parameters.values()  # type: ignore[arg-type]  # is a function
    found = [one for one in every if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
    if len(found) < inputs:
        count = f"only {len(found)} arguments" if found else "no argument"
        why = f"{definition.name} takes {count} of its own, but should take the component's input"
        raise NotLoaded(why, definition.frame)
    return found


def _calling(
    definition: Definition, inputs: Sequence[str], makes: dict[str, Make]
) -> Callable[[Sizes], nn.Module]:
    def build(sizes: Sizes) -> nn.Module:
        given = {name: make(sizes) for name, make in makes.items()}
        function: Any = definition.value
        return FunctionModule(function, inputs, given)

    return build


def _makes(
    definition: Definition, parameter: inspect.Parameter, texts: Sequence[str], key: str
) -> list[Make]:
    """List what an argument may be given, of which texts are read; nothing where its default will do."""
    optional = parameter.default is not parameter.empty
    if texts and not optional:
        return _dictionaries(texts, key)
    shapes = _shapes(parameter.name, key) if not optional or parameter.default is None else ()
    if shapes:
        return [*(_Tensor(one) for one in shapes), *(_Layer(one) for one in shapes)]
    if "mask" in parameter.name.lower() and not optional:
        return [lambda _: None]  # nothing is hidden
    found: list[Make] = [*map(_meaning, choices(parameter.name, "", parameter.default))]
    if not found and not optional:
        found = _anything(key)
    if not found and not optional:
        raise NotLoaded(
            f"{definition.name} needs an argument {parameter.name!r}, and it is unclear what to pass:"
            " give it a usual name, or a default",
            definition.frame,
        )
    return found


def _dictionaries(texts: Sequence[str], key: str) -> list[Make]:
    """Dictionaries with what their keys say: sizes, or parameters of these shapes, then of others."""
    said = [_said(one, key) for one in texts]
    others: list[Make] = [*map(_Tensor, _all_shapes(key))]
    ways = itertools.chain(
        itertools.product(*(one or others for one in said)),
        itertools.product(*([*one, *others] if _are_tensors(one) else one for one in said)),
    )
    return [_Dictionary(dict(zip(texts, one, strict=True))) for one in itertools.islice(ways, _MOST_WAYS)]


def _said(text: str, key: str) -> list[Make]:
    """What a key says, if anything."""
    shapes = _shapes(text, key)
    return [*map(_Tensor, shapes)] if shapes else [*map(_meaning, choices(text, "", None))]


def _are_tensors(makes: Sequence[Make]) -> bool:
    return all(isinstance(one, _Tensor) for one in makes)


def _meaning(choice: Any) -> Make:
    return lambda sizes: value(choice, sizes)


def _anything(key: str) -> list[Make]:
    """Any size that shows in what the component does, and any of its parameters."""
    shapes = _all_shapes(key)
    sizes = [_meaning(one) for one in COMPONENTS[key].sizes if one in _COUNTED]
    return [*sizes, *map(_Tensor, shapes), *map(_Layer, shapes)]


def _all_shapes(key: str) -> Sequence[str]:
    every = ((*weights, *biases) for _, weights, biases in _PARAMETERS[key])
    return tuple(dict.fromkeys(itertools.chain.from_iterable(every)))


def _shapes(name: str, key: str) -> Sequence[str]:
    lower = name.lower()
    if "mask" in lower:
        return ()
    for pattern, weights, biases in _PARAMETERS[key]:
        if re.search(pattern, lower):
            return biases if _BIAS.fullmatch(lower) else weights
    return ()


class _Tensor:
    """A parameter of this shape."""

    def __init__(self, shape: str) -> None:
        self._shape = shape

    def __call__(self, sizes: Sizes) -> nn.Parameter:
        return nn.Parameter(torch.randn(_numbers(self._shape, sizes)))


class _Dictionary:
    """What these make, by their keys."""

    def __init__(self, made: Mapping[str, Make]) -> None:
        self._made = made

    def __call__(self, sizes: Sizes) -> dict[str, object]:
        return {key: make(sizes) for key, make in self._made.items()}


class _Layer:
    """The library's layer with a weight of this shape."""

    def __init__(self, shape: str) -> None:
        self._shape = shape

    def __call__(self, sizes: Sizes) -> nn.Module:
        numbers = _numbers(self._shape, sizes)
        if len(numbers) == 1:
            return nn.LayerNorm(numbers)
        if len(numbers) == 4:
            return nn.Conv2d(sizes.channels, sizes.embed_dim, sizes.patch, sizes.patch)
        inputs, outputs = numbers[-2:]
        return nn.Linear(inputs, outputs)


def _is_layer(make: Make) -> bool | None:
    """Say which of the two it is; None for a plain value."""
    return isinstance(make, _Layer) if isinstance(make, (_Tensor, _Layer)) else None


def _numbers(shape: str, sizes: Sizes) -> tuple[int, ...]:
    axes = sizes.axes | {"1": 1, "3D": 3 * sizes.embed_dim}
    return tuple(axes[letter] for letter in shape.split())
