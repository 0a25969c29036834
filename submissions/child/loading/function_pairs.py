"""Models that are no class: one function makes the parameters, and another computes with them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice

from ...reading.python_text import parse
from .definitions import Definition, Definitions, FunctionPair
from .text_keys import are_among, names_in_keys, read_by, written_by

_MAKES = re.compile(r"init|param|weight|create|make|build|new|setup", re.IGNORECASE)
_RUNS = re.compile(r"forward|vi_?t|transformer|model|net|apply|logits|run", re.IGNORECASE)
_IMAGE = re.compile(r"^(x|imgs?|images?|inputs?|pixels?|batch|pictures?|bild\w*|xs?)$", re.IGNORECASE)
_MOST = 4  # pairs that are tried


def function_pairs(definitions: Definitions) -> list[Definition]:
    """The likeliest first. Each takes what the one that makes the parameters takes, and the other beside."""
    functions = [one for one in definitions.all.values() if isinstance(one.node, ast.FunctionDef)]
    makers = _largest([one for one in functions if _MAKES.search(one.name) and _returns(one)], definitions)
    runs = [one for one in functions if _RUNS.search(one.name) and _may_run(one) and one not in makers]
    runs = _largest(runs, definitions)
    found = (
        pair
        for run in runs
        for make in makers
        for pair in _paired(make, run, {held for held, _ in read_by(run, definitions)})
    )
    return list(islice(found, _MOST))


def part_pairs(definitions: Definitions, run: Definition) -> list[Definition]:
    """The same of what computes a part, with what makes all that it reads by key; the smallest such first.

    Nothing where it reads nothing so.
    """
    read = read_by(run, definitions)
    keys = {held: frozenset(key for one, key in read if one == held) for held, _ in read}
    every = [
        one for one in definitions.all.values() if isinstance(one.node, ast.FunctionDef) and one is not run
    ]
    makers = [one for one in reversed(_largest(every, definitions)) if _returns(one)]
    ways = ((make, held) for make in makers for held in keys if are_among(keys[held], written_by(make)))
    found = (pair for make, held in ways for pair in _paired(make, run, {held}, keys[held]))
    return list(islice(found, _MOST))


def _largest(functions: list[Definition], definitions: Definitions) -> list[Definition]:
    """Those that use most of the program first: what is for a part is used by what is for the whole."""
    return sorted(functions, key=lambda one: len(definitions.reachable(one)), reverse=True)


def _paired(
    make: Definition,
    run: Definition,
    keyed: Collection[str],
    keys: frozenset[str] = frozenset(),
) -> Iterator[Definition]:
    """The two, if it can be told what is the image and what the parameters, such as what is ``keyed``."""
    taken = inspect.signature(make.value).parameters  # type: ignore[arg-type]  # a function
    asked = inspect.signature(run.value).parameters  # type: ignore[arg-type]  # a function
    in_keys = names_in_keys(keys) - taken.keys()
    needed = [name for name, one in asked.items() if one.default is one.empty and name not in in_keys]
    free = [name for name in needed if name in keyed or name not in taken]
    # where parameters are made, the image's name may be that of its side
    likely = [name for name in needed if _IMAGE.search(name) and name not in keyed]
    images = likely or [name for name in free if name not in keyed][-1:] or free[-1:]
    parameters = [name for name in free if name not in images]
    if make.module != run.module or not images or not parameters:
        return
    held = tuple(parameters if len(parameters) == _tuple_made(make) else parameters[:1])
    pair = FunctionPair(make.name, run.name, held, images[0], keys)
    own = {*taken, *pair.parameters, pair.image, *in_keys}
    beside = [one for name, one in asked.items() if name not in own]
    every = [one.replace(kind=one.KEYWORD_ONLY) for one in (*taken.values(), *beside)]
    yield replace(
        run,
        name=f"{make.name} and {run.name}",
        value=_with_signature(inspect.Signature(every)),
        node=_both(run, pair, every),
        pair=pair,
    )


def _with_signature(signature: inspect.Signature) -> object:
    def make_and_run(**given: object) -> None:
        """Only its signature is read; see ``building.function_models``."""

    make_and_run.__signature__ = signature  # type: ignore[attr-defined]  # what inspect reads
    return make_and_run


def _both(run: Definition, pair: FunctionPair, given: list[inspect.Parameter]) -> ast.FunctionDef:
    """A function that hands each argument on under its name: so it is known what is read of it where."""
    names = [one.name for one in given]
    own = {pair.image, *pair.parameters}
    made, ran = (
        ", ".join(f"{name}={name}" for name in names if name not in without) for without in ((), own)
    )
    text = f"def {pair.run}({', '.join(names)}):\n    {pair.make}({made})\n    {pair.run}({ran})\n"
    node = parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return ast.copy_location(node, run.node)


def _may_run(one: Definition) -> bool:
    """Does it return something, or end where it is not written yet?"""
    last = one.node.body[-1]
    return _returns(one) or isinstance(last, (ast.Raise, ast.Pass))


def _tuple_made(one: Definition) -> int:
    """How many things it returns side by side."""
    returned = (node.value for node in ast.walk(one.node) if isinstance(node, ast.Return))
    return max((len(value.elts) for value in returned if isinstance(value, ast.Tuple)), default=1)


def _returns(one: Definition) -> bool:
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(one.node))
