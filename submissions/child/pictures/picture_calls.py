"""Child side: the submission's own functions and transforms, called with pictures of ours."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from ...questions.images import PICTURES
from ...questions.own_functions import OwnFunctions, Predicted, Prepared
from ..child import quoted
from ..loading.execution import Loaded
from ..tracing.results import results_in
from .argument_roles import ArgumentRoles, Way, is_transform
from .lent_calls import LentCalls, Outcome
from .stand_in import StandIn
from .told_numbers import labels_in, told

_FIRST = "black"  # what cannot be called with this one cannot be called
_IMAGES = 3  # where images are given as a tensor
_MOST = 8  # functions of either kind
_Call = Callable[[object], Outcome]


def own_functions(loaded: Loaded, side: int, classes: int) -> OwnFunctions:
    """What each function makes of each picture of ``images.PICTURES``, and what it tells of it."""
    return _PictureCalls(loaded, side, classes).all()


class _PictureCalls:
    def __init__(self, loaded: Loaded, side: int, classes: int) -> None:
        self.loaded = loaded
        self.side = side
        self.roles = ArgumentRoles(loaded)
        self.stand_in = StandIn(side, classes)
        self.calls = LentCalls(self.roles, self.stand_in)
        self.prepared: list[Prepared] = []
        self.predicted: list[Predicted] = []

    def all(self) -> OwnFunctions:
        done: set[str] = set()  # with what they use, which is theirs alone
        for way in self.roles.ways():
            if way.function.name not in done and self._is_understood(way):
                done |= {one.name for one in self.roles.used(way.function)}
        for name, transform in () if self.prepared else self._transforms():
            self._pictures(name, partial(self.calls.apply, transform), self._as_image)
        return OwnFunctions(tuple(self.prepared[:_MOST]), tuple(self.predicted[:_MOST]))

    def _is_understood(self, way: Way) -> bool:
        """Has the function been given something that it takes, and shown what it does with it?"""
        before = len(self.prepared) + len(self.predicted)

        def call(given: object) -> Outcome:
            return self.calls.call(way, given)

        for give in (self._as_image, self._as_path, self._as_array):
            self._pictures(way.function.name, call, give, way)
            if len(self.prepared) + len(self.predicted) > before:
                return True
        floats = torch.zeros(_IMAGES, 3, self.side, self.side)
        as_read = torch.zeros(_IMAGES, self.side, self.side, 3, dtype=torch.uint8)  # bytes, channels last
        grey = floats[0, 0]
        for count, images in ((_IMAGES, floats), (_IMAGES, as_read), (1, floats[0]), (1, grey)):
            self._predict(way, call(images), count)
            if len(self.predicted) > before:
                return True
        return False

    def _pictures(
        self, name: str, call: _Call, give: Callable[[str], object], way: Way | None = None
    ) -> None:
        """Keeps what a function or transform makes of all pictures, if it makes something of the first."""
        tensors: dict[str, Tensor] = {}
        errors: dict[str, str] = {}
        reaches_model = False
        for picture in (_FIRST, *(one for one in PICTURES if one != _FIRST)):
            outcome = call(give(picture))
            if way and picture == _FIRST:
                self._predict(way, outcome, 1)
            # of an array, any function with numbers makes another one: only a tensor is for a model
            made = self._made(outcome, of_an_array=give == self._as_array)
            if self.stand_in.was_a_transform:
                return  # how pictures are prepared, something says that is not here
            reaches_model |= bool(self.stand_in.given)
            if isinstance(made, Tensor):
                tensors[picture] = made
            elif not tensors:
                return
            else:
                errors[picture] = made
        dtypes = {picture: str(one.dtype).removeprefix("torch.") for picture, one in tensors.items()}
        exact = {picture: one.double().contiguous() for picture, one in tensors.items()}
        self.prepared.append(Prepared(name, way is not None, reaches_model, exact, dtypes, errors))

    def _made(self, outcome: Outcome, of_an_array: bool) -> Tensor | str:
        """The tensor that reached the model or came out, or why there is none."""
        if self.stand_in.given:
            return self.stand_in.given[0]
        if outcome.error is not None:
            return quoted(outcome.error)
        result = outcome.result
        if isinstance(result, Image.Image):
            return "it returned a picture, not a tensor"
        try:
            is_read = isinstance(result, np.ndarray) and not of_an_array
            result = torch.from_numpy(result) if is_read else result
            found = [one for _, one in results_in(result).tensors if one.dim() in (3, 4) and one.numel()]
        except Exception as error:
            return quoted(error)
        return found[0] if found else "it did not return a tensor with three or four axes"

    def _predict(self, way: Way, outcome: Outcome, images: int) -> None:
        """Keeps what a function tells that has asked the model."""
        if outcome.error is not None or not self.stand_in.given:
            return
        outer = [
            one for each in self.roles.used(way.function) for one in self.roles.outer_names(each).values()
        ]
        classes, shares = told(outcome.result, outcome.printed, labels_in([*outer, self.stand_in.labels]))
        of = way.function
        train = self.stand_in.in_train_mode and not of.is_method  # whose mode is for its caller to choose
        self.predicted.append(Predicted(of.name, of.file, of.node.lineno, images, train, classes, shares))

    def _transforms(self) -> Iterator[tuple[str, Callable[[object], object]]]:
        """Those that the code calls, or nothing uses: one that is only handed on is a data set's."""
        nodes = [node for tree in self.roles.definitions.trees for node in ast.walk(tree)]
        called = {
            node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
        for module in self.loaded.modules.values():
            for name, value in vars(module).items():
                if is_transform(value) and (name in called or name not in used) and callable(value):
                    yield name, value

    def _as_image(self, picture: str) -> object:
        return PICTURES[picture](self.side)

    def _as_array(self, picture: str) -> object:
        """Rows, columns and channels, as what reads files without Pillow gives them."""
        return np.array(PICTURES[picture](self.side).convert("RGB"))

    def _as_path(self, picture: str) -> object:
        path = Path(f"{picture}.png").resolve()
        PICTURES[picture](self.side).save(path)
        return str(path)
