"""What the student's own training loops leave out, as far as the code alone tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from ..errors import Frame
from .code import parsed, texts
from .code_scopes import called, makes_object, name_of, receiver
from .method_calls import reached
from .python_text import DEFINITIONS

_MODES = ("train", "eval")
_MAKING = re.compile("make|build|create|get|init|new|clone|deepcopy")
_LOOPS = (ast.For, ast.While)
_CLEARING = ("zero_grad", ".grad")  # a gradient that the code touches itself may be cleared there, too
_CHANGING = ("dropout", "droppath", "drop_path", "batchnorm", "stochastic")  # what train mode is for


def trains(files: Mapping[str, bytes]) -> bool:
    """Is there a loop that trains one and the same model?"""
    return next(_loops_that_train(files), None) is not None


def left_in_eval(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that put a model into eval mode in a loop that trains it, where nothing puts it back.

    From the next round on it is trained as it is evaluated. Nothing where there is no dropout or the like.
    """
    if not any(one in text.lower() for _, text in texts(files) for one in _CHANGING):
        return
    every = [one for _, tree in parsed(files) for one in _calls([tree])]
    learning = {receiver(one) for one in every if called(one) == "parameters"}
    for file, calls in _loops_that_train(files):
        models = learning | {name_of(one.func) for one in calls}
        modes = [(_mode(one), one) for one in calls if receiver(one) in models]
        if not any(mode == "train" for mode, _ in modes):
            yield from (Frame(file, one.lineno) for mode, one in modes if mode == "eval")


def keeps_gradients(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that add to gradients in a loop that steps along them, where nothing ever clears them."""
    if any(one in text for _, text in texts(files) for one in _CLEARING):
        return
    for file, calls in _loops_that_train(files):
        if any(called(one) == "step" for one in calls):
            yield from (Frame(file, one.lineno) for one in calls if called(one) == "backward")


def _loops_that_train(files: Mapping[str, bytes]) -> Iterator[tuple[str, list[ast.Call]]]:
    """All calls in a loop with a backward pass, and in the functions that it uses.

    One that makes objects may make a model in each round, which begins anew.
    """
    for file, tree in parsed(files):
        functions = {one.name: one for one in ast.walk(tree) if isinstance(one, DEFINITIONS)}
        uses = {name: {*_names(_calls([one]))} for name, one in functions.items()}
        for loop in (one for one in ast.walk(tree) if isinstance(one, _LOOPS)):
            own = _calls(loop.body)
            used = (functions[name] for name in reached(uses, _names(own)))
            calls = [*own, *_calls([*used])]
            if any(called(one) == "backward" for one in calls) and not _makes_objects(loop):
                yield file, calls


def _makes_objects(loop: ast.stmt) -> bool:
    made = (one.value for one in ast.walk(loop) if isinstance(one, ast.Assign))
    return any(makes_object(one) or _MAKING.match(called(one)) for one in made)


def _calls(nodes: Sequence[ast.AST]) -> list[ast.Call]:
    every = chain.from_iterable(map(ast.walk, nodes))
    return [one for one in every if isinstance(one, ast.Call)]


def _names(calls: list[ast.Call]) -> Iterator[str]:
    """Of functions, and of methods of the same object: a model has some of the same names."""
    for one in calls:
        if isinstance(one.func, ast.Name) or receiver(one) == "self":
            yield called(one)


def _mode(call: ast.Call) -> str:
    """The mode that it puts a model into; "" where it puts it into none."""
    is_off = any(isinstance(one, ast.Constant) and one.value is False for one in call.args)
    return "eval" if called(call) == "train" and is_off else called(call) * (called(call) in _MODES)
