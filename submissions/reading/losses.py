"""What the student's own code gives to its loss."""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ..errors import Frame
from .code import parsed
from .code_scopes import called, name_of
from .python_text import DEFINITIONS


@dataclass(frozen=True)
class Loss:
    """A loss of torch's own: its function, and the class whose objects compute the same."""

    function: str
    layer: str


CROSS_ENTROPY = Loss("cross_entropy", "CrossEntropyLoss")  # of logits
NEGATIVE_LOG_LIKELIHOOD = Loss("nll_loss", "NLLLoss")  # of the logarithms of probabilities


def given_by_a_model(files: Mapping[str, bytes], loss: Loss) -> Iterator[Frame]:
    """The lines on which a loss is given what calling an object gives, which is a model most likely.

    As it is: not what a function makes of it, such as its logarithm.
    """
    for file, tree in parsed(files):
        nodes = list(ast.walk(tree))
        functions = {*_functions(nodes), *dir(builtins)}
        scores = _bound(nodes, partial(_is_of_object, functions=functions))
        for call in _losses(nodes, loss):
            if _is_of_object(call.args[0], functions) or name_of(call.args[0]) in scores:
                yield Frame(file, call.lineno)


def given_a_softmax(files: Mapping[str, bytes], loss: Loss) -> Iterator[Frame]:
    """The lines on which a loss of torch's own is given a softmax."""
    for file, tree in parsed(files):
        nodes = list(ast.walk(tree))
        layers = _bound(nodes, lambda value: called(value) == "Softmax")
        shares = _bound(nodes, partial(_is_softmax, layers=layers))
        for call in _losses(nodes, loss):
            if _is_softmax(call.args[0], layers) or name_of(call.args[0]) in shares:
                yield Frame(file, call.lineno)


def _losses(nodes: list[ast.AST], loss: Loss) -> Iterator[ast.Call]:
    """The calls of the loss, by whatever name an object of it has; none of the student's own of its name."""
    losses = _bound(nodes, lambda value: called(value) == loss.layer)
    is_own = any(isinstance(one, DEFINITIONS) and one.name == loss.function for one in nodes)
    for call in (one for one in nodes if isinstance(one, ast.Call) and one.args):
        is_function = called(call) == loss.function and not is_own
        if is_function or called(call.func) == loss.layer or name_of(call.func) in losses:
            yield call


def _is_softmax(value: ast.AST, layers: set[str]) -> bool:
    """Is it ``softmax(x)``, ``nn.Softmax(-1)(x)``, or a call of what is one of ``layers``?"""
    if not isinstance(value, ast.Call):
        return False
    return called(value) == "softmax" or called(value.func) == "Softmax" or name_of(value.func) in layers


def _functions(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """What is defined or imported under a name of its own."""
    for node in nodes:
        if isinstance(node, DEFINITIONS):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from (one.asname or one.name for one in node.names)


def _is_of_object(value: ast.AST, functions: set[str]) -> bool:
    """Is it ``net(x)`` or ``self.net(x)``, where ``net`` is no function?"""
    return isinstance(value, ast.Call) and name_of(value.func) not in {"", *functions}


def _bound(nodes: Iterable[ast.AST], is_meant: Callable[[ast.expr], bool]) -> set[str]:
    """The names, of variables or of what ``self`` holds, that are only ever given such values."""
    given = defaultdict[str, list[bool]](list)
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            given[name_of(target)].append(isinstance(node, ast.Assign) and is_meant(node.value))
    return {name for name, found in given.items() if name and all(found)}
