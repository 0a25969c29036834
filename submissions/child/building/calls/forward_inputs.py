"""Models whose forward takes more than an image: a mask, labels, or a batch as a dictionary or a tuple.

Or an image with its channels last, as image files have them, a grey one without that axis, or one at a time.
What beside the image is demanded is given None, or what else lets a pass come through.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import CodeType, MethodType

import torch
from torch import Tensor, nn

from ....reading.python_text import parse, written
from ...settings import Settings
from .observing import stacked

_MOST = 12  # ways to call a forward, each of which takes a pass
_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
ONE_BY_ONE = "C H W"
_LAID_OUT: Mapping[str, Callable[[Tensor], Tensor]] = {
    "B C H W": lambda image: image,
    ONE_BY_ONE: lambda image: image,
    "B H W C": lambda image: image.permute(0, 2, 3, 1),
    "B H W": lambda image: image.squeeze(1),
}
_OF_OTHERS = frozenset(dir(dict)) | frozenset(dir(Tensor))  # attributes that no batch needs to have


@dataclass(frozen=True)
class Filling:
    """What an input is given that is not the image's; ``told`` says it."""

    told: str
    of: Callable[[Tensor], object]


NOTHING = Filling("None", lambda _: None)
ITSELF = Filling("the same", lambda given: given)
_FILLINGS = (
    NOTHING,
    Filling("True", lambda _: torch.tensor(True)),  # a mask by which every token may be seen
    Filling("a label for each image", lambda image: image.new_zeros(len(image), dtype=torch.long)),
)


@dataclass(frozen=True)
class ForwardInputs:
    """How a forward is given an image: under one of ``names``, of arguments or of what its only one holds."""

    names: tuple[str, ...]
    held: type | None = None  # what the only argument is, if that is not the image itself
    image: int = 0  # which of the names is the image's
    fillings: tuple[Filling, ...] = ()  # of the others
    axes: str = "B C H W"  # of the image

    def open(self, model: nn.Module) -> None:
        """Has its forward take an image alone."""
        model.forward = MethodType(functools.partial(_forward, self), model)

    def given(self, image: Tensor) -> dict[str, object]:
        """What each name is given."""
        fillings = iter(self.fillings)
        image = _LAID_OUT[self.axes](image)
        return {
            name: image if number == self.image else next(fillings).of(image)
            for number, name in enumerate(self.names)
        }

    def ways(self) -> Iterator[ForwardInputs]:
        """The ways to fill these names, the likeliest first."""
        fillings = list(itertools.product(_FILLINGS, repeat=len(self.names) - 1))
        ways = itertools.product(range(len(self.names)), fillings)
        return (ForwardInputs(self.names, self.held, *way) for way in itertools.islice(ways, _MOST))

    def notes(self) -> list[str]:
        """Say what the image and the others were given as."""
        others = [name for number, name in enumerate(self.names) if number != self.image]
        how = " one by one" * (self.axes == ONE_BY_ONE)
        told = [] if self.axes == "B C H W" else [f"forward was given images{how} as {self.axes}"]
        told += [f"forward's {name!r} was given {one.told}" for name, one in zip(others, self.fillings)]
        if self.held is dict:
            told.insert(0, f"forward was given the image as {self.names[self.image]!r} of a dictionary")
        if self.held is tuple:
            told.insert(0, "forward was given the image in a tuple")
        return told


def _forward(inputs: ForwardInputs, model: nn.Module, image: Tensor) -> object:
    if inputs.axes == ONE_BY_ONE:
        return stacked(_called(inputs, model, one) for one in image)
    return _called(inputs, model, image)


def _called(inputs: ForwardInputs, model: nn.Module, image: Tensor) -> object:
    given = inputs.given(image)
    forward: Callable[..., object] = type(model).forward
    if inputs.held is dict:
        return forward(model, Settings(given))
    if inputs.held is tuple:
        return forward(model, tuple(given.values()))
    return forward(model, **given)


def laid_out(
    forward: Callable[..., object], otherwise: ForwardInputs | None, axes: str
) -> ForwardInputs | None:
    """The same inputs for a forward that reads images of these ``axes``; None where it has no name."""
    first, *_ = [*list(inspect.signature(forward).parameters)[1:], ""]
    known = otherwise or (ForwardInputs((first,)) if first else None)
    return known and replace(known, axes=axes)


@functools.lru_cache(maxsize=16)
def forward_inputs(forward: Callable[..., object]) -> ForwardInputs | None:
    """What this method asks for, by its code; None where that is an image alone."""
    asked = _asked(forward)
    return next(asked.ways()) if asked else None


def _asked(forward: Callable[..., object]) -> ForwardInputs | None:
    """What has names, which nothing is given to yet."""
    try:
        parameters = list(inspect.signature(forward).parameters.values())[1:]
        code = _read(inspect.unwrap(forward).__code__)
    except (AttributeError, TypeError, ValueError, OSError):  # written in no file, or by no Python
        return None
    keywords = next((one.name for one in parameters if one.kind is one.VAR_KEYWORD), "")
    demanded = [one for one in parameters if one.default is one.empty and one.kind not in _ANY_NUMBER]
    if not demanded:
        names = _keys(code, keywords) if keywords and len(parameters) == 1 else ()
        return ForwardInputs(names) if names else None
    if len(demanded) > 1 or demanded[0].kind is inspect.Parameter.KEYWORD_ONLY:
        return ForwardInputs(tuple(one.name for one in demanded))
    if keys := _keys(code, demanded[0].name):
        return ForwardInputs(keys, dict)
    if places := _unpacked(code, demanded[0].name):
        return ForwardInputs(places, tuple)
    return None


@functools.lru_cache(maxsize=16)
def _read(code: CodeType) -> ast.AST:
    """How it is written. Each build with other globals makes the same code again."""
    return parse(textwrap.dedent(inspect.getsource(code)))


def _keys(code: ast.AST, name: str) -> tuple[str, ...]:
    """The keys and attributes that are read of ``name``, as of no tensor."""
    read = (_key_read(node) for node in ast.walk(code))
    return tuple(dict.fromkeys(key for of, key in read if of == name))


def _key_read(node: ast.AST) -> tuple[str, str]:
    """``batch["image"]``, ``batch.get("image")`` and ``batch.image`` as ``("batch", "image")``."""
    match node:
        case ast.Subscript(value=ast.Name(id=of), slice=ast.Constant(value=str(key))):
            return of, key
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=of), attr="get"), args=[ast.Constant(value=str(key)), *_]
        ):
            return of, key
        case ast.Attribute(value=ast.Name(id=of), attr=key) if key not in _OF_OTHERS:
            return of, key
    return "", ""


def _unpacked(code: ast.AST, name: str) -> tuple[str, ...]:
    """The names that ``name`` is taken apart into."""
    for node in ast.walk(code):
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name(id=of)) if of == name:
                return tuple(written(one) for one in parts if not isinstance(one, ast.Starred))
    return ()
