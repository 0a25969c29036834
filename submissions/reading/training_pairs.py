"""What does not belong together in the student's own training code, as far as the code alone tells."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence

from ..errors import Frame
from .code import parsed
from .code_scopes import called, last_name, name_of, receiver
from .python_text import names_read
from .training_order import blocks, calls_in, optimized

_SHUFFLING = ("randperm", "permutation")
_LOOPS = (ast.For, ast.While)


def optimizer_of_another(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that give an optimizer the parameters of one model, where it trains another one alone."""
    classes = _model_classes(files)
    for file, block in blocks(files):
        made = {name: value for one in block for name, value in _made(one, classes)}
        for at, one in enumerate(block):
            own: dict[str, set[str]] = {}
            for optimizer, model in optimized(one):
                own.setdefault(optimizer, set()).add(model)
            for optimizer, models in own.items():
                uses = (_used(each, optimizer, made) for each in block[at + 1 :])
                if made.keys() >= models and any(used and not _hold(used, models, made) for used in uses):
                    yield Frame(file, one.lineno)


def _model_classes(files: Mapping[str, bytes]) -> set[str]:
    """The names of classes that derive from ``nn.Module``, by way of others or not."""
    every = [one for _, tree in parsed(files) for one in ast.walk(tree) if isinstance(one, ast.ClassDef)]
    found, before = {"Module"}, 0
    while len(found) > before:
        before = len(found)
        found |= {one.name for one in every if not found.isdisjoint(map(last_name, one.bases))}
    return found


def _made(statement: ast.stmt, classes: Collection[str]) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign) and called(statement.value) in classes:
        yield from ((name_of(target), statement.value) for target in statement.targets)


def _used(statement: ast.stmt, optimizer: str, made: Collection[str]) -> set[str]:
    """The models that are used where the optimizer is: in a loop of its steps, or as what a call is given."""
    calls = calls_in(statement)
    if isinstance(statement, _LOOPS):
        is_trained = any(called(one) == "step" and receiver(one) == optimizer for one in calls)
        return names_read(statement) & {*made} if is_trained else set()
    given = (
        {name_of(one) for one in (*call.args, *(each.value for each in call.keywords))} for call in calls
    )
    return {name for names in given if optimizer in names for name in names & {*made}}


def _hold(used: Collection[str], models: Collection[str], made: Mapping[str, ast.expr]) -> bool:
    """Is one of the models among those that are used, or made with one, or one of these with it?"""
    inside = {name: {name, *(names_read(made[name]) & made.keys())} for name in made}
    return any(one in inside[other] or other in inside[one] for one in used for other in models)


def labels_in_another_order(files: Mapping[str, bytes]) -> Iterator[Frame]:
    """The lines that take rows as they lie where others are taken by the same piece of a shuffled order."""
    for file, tree in parsed(files):
        shuffled = {name for one in ast.walk(tree) for name in _shuffled(one)}
        for _, block in blocks({file: files[file]}) if shuffled else ():
            for at, one in enumerate(block):
                yield from (Frame(file, line) for line in _as_they_lie(one, block[at + 1 :], shuffled))


def _shuffled(node: ast.AST) -> Iterator[str]:
    """Names that are bound to a shuffled order, or to rows that are taken in one."""
    if isinstance(node, ast.Assign):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if any(called(one) in _SHUFFLING for value in values for one in ast.walk(value)):
            yield from (name_of(target) for target in node.targets)


def _as_they_lie(piece: ast.stmt, rest: Sequence[ast.stmt], shuffled: Collection[str]) -> Iterator[int]:
    """Where something is cut as the order was, and something else is taken by that piece of the order."""
    if not isinstance(piece, ast.Assign) or not isinstance(piece.value, ast.Subscript):
        return
    order, names = name_of(piece.value.value), {name_of(one) for one in piece.targets}
    read = [one for each in rest for one in ast.walk(each) if isinstance(one, ast.Subscript)]
    if order not in shuffled or not any(name_of(one.slice) in names for one in read):
        return
    cut = ast.dump(piece.value.slice)
    yield from (
        one.lineno
        for one in read
        if ast.dump(one.slice) == cut and name_of(one.value) not in (order, *shuffled)
    )
