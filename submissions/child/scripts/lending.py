"""What a script opens and does not have here is lent to it: an image, untrained weights, a place to draw.

Scripts read an image from a path on their author's disk, download weights, and plot. None of that says
anything about the stages: any image will do, and weights are given random values anyway.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePath
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import PIL.Image
import torch
import torchvision
from PIL import Image
from torch import nn

_IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".gif", ".tif", ".tiff")
_PLOTTING = ("matplotlib", "matplotlib.pyplot", "matplotlib.image", "seaborn", "plotly", "IPython.display")
_SEED = 0


class _Weights(dict[str, Any]):
    """Weights that are not here: loading them changes nothing."""


class _Canvas(ModuleType):
    """Takes whatever is drawn on it, or asked of it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.__path__ = []  # a package, so that what is below it can be imported

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: object, **__: object) -> _Canvas:
        return self

    def __getitem__(self, _: object) -> _Canvas:
        return self

    def __setitem__(self, _: object, __: object) -> None:
        pass

    def __iter__(self) -> Iterator[_Canvas]:
        return iter(())

    def __enter__(self) -> _Canvas:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def subplots(self, *_: object, **__: object) -> tuple[_Canvas, _Canvas]:
        return self, self


@contextmanager
def lent(height: int, width: int) -> Iterator[None]:
    """While it lasts, a missing image is one of this size, and nothing is loaded as weights or plotted."""
    picture = _picture(height, width)
    with ExitStack() as stack:
        for target, name, stand_in in _replacements(picture):
            stack.enter_context(mock.patch.object(target, name, stand_in))
        stack.enter_context(mock.patch.dict(sys.modules, _modules(picture)))
        yield


def _picture(height: int, width: int) -> Image.Image:
    pixels = np.random.default_rng(_SEED).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def _replacements(picture: Image.Image) -> Iterator[tuple[Any, str, Callable[..., Any]]]:
    array = np.asarray(picture)
    tensor = torch.from_numpy(array.copy()).permute(2, 0, 1).contiguous()
    yield PIL.Image, "open", _or(PIL.Image.open, picture.copy)
    yield torchvision.io, "read_image", _or(torchvision.io.read_image, tensor.clone)
    yield torchvision.io, "decode_image", _or(torchvision.io.decode_image, tensor.clone)
    yield np, "load", _or(np.load, array.copy)
    yield torch, "load", _or(torch.load, _Weights)
    yield torch.hub, "load_state_dict_from_url", lambda *_, **__: _Weights()
    yield torchvision.models._api.WeightsEnum, "get_state_dict", lambda *_, **__: _Weights()
    yield nn.Module, "load_state_dict", _unless_lent(nn.Module.load_state_dict)
    yield urllib.request, "urlopen", lambda *_, **__: _png(picture)
    yield urllib.request, "urlretrieve", lambda url, file="image.png", *_, **__: _saved(picture, file)
    for owner in (os.path, Path):
        for name in ("exists", "isfile" if owner is os.path else "is_file"):
            yield owner, name, _or_image(getattr(owner, name))
    yield argparse.ArgumentParser, "parse_args", _undemanding(argparse.ArgumentParser.parse_args)
    if "cv2" in sys.modules:
        yield sys.modules["cv2"], "imread", lambda *_, **__: array[:, :, ::-1].copy()  # OpenCV reads BGR


def _modules(picture: Image.Image) -> dict[str, ModuleType]:
    """Stand-ins for packages that plot, and for the one that downloads."""
    canvases: dict[str, ModuleType] = {name: _Canvas(name) for name in _PLOTTING}
    for name in ("matplotlib.pyplot", "matplotlib.image"):
        vars(canvases[name])["imread"] = lambda *_, **__: np.asarray(picture).copy()
    for name, canvas in canvases.items():
        parent, _, child = name.rpartition(".")
        if parent in canvases:
            vars(canvases[parent])[child] = canvas
    requests = ModuleType("requests")
    vars(requests)["get"] = lambda *_, **__: SimpleNamespace(
        content=_png(picture).getvalue(),
        raw=_png(picture),
        ok=True,
        status_code=200,
        raise_for_status=lambda: None,
    )
    return {**canvases, "requests": requests}


def _or(read: Callable[..., Any], stand_in: Callable[[], Any]) -> Callable[..., Any]:
    """Read what is there; lend what is not."""

    def reading(*arguments: Any, **options: Any) -> Any:
        try:
            return read(*arguments, **options)
        # torchvision's is a RuntimeError
        except (OSError, AttributeError, TypeError, RuntimeError, ValueError):
            return stand_in()

    return reading


def _unless_lent(load: Callable[..., Any]) -> Callable[..., Any]:
    def loading(model: nn.Module, state: Any, *arguments: Any, **options: Any) -> Any:
        lent_nothing = isinstance(state, _Weights)
        return load(model, model.state_dict() if lent_nothing else state, *arguments, **options)

    return loading


def _or_image(exists: Callable[..., bool]) -> Callable[..., bool]:
    def existing(path: Any, **options: Any) -> bool:
        named_so = isinstance(path, (str, PurePath)) and str(path).lower().endswith(_IMAGES)
        return named_so or exists(path, **options)

    return existing


def _undemanding(parse: Callable[..., Any]) -> Callable[..., Any]:
    """No argument is given here, and none is demanded."""

    def parsing(parser: argparse.ArgumentParser, *arguments: Any, **options: Any) -> Any:
        for action in parser._actions:
            action.required = False
            action.nargs = "?" if not action.option_strings and action.nargs is None else action.nargs
        return parse(parser, *arguments, **options)

    return parsing


def _png(picture: Image.Image) -> io.BytesIO:
    file = io.BytesIO()
    picture.save(file, "PNG")
    file.seek(0)
    return file


def _saved(picture: Image.Image, file: str) -> tuple[str, None]:
    picture.save(file, "PNG")
    return str(file), None
