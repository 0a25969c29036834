"""Which of the student's classes and functions may be the model."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator
from itertools import chain

from ...errors import NotLoaded
from ...reading.code_scopes import called
from ...reading.python_text import DEFINITIONS, base_name, names_bound
from .definitions import Definition, Definitions
from .function_pairs import function_pairs
from .keys import names_in

_MODEL_NAME = re.compile(r"vi_?t|vision_?transformer", re.IGNORECASE)
_PART_NAME = re.compile(
    r"block|layer|embed|encoder|att|mlp|ffn|feed|patch|head|output|intermediate|pooler|loss|config|train",
    re.IGNORECASE,
)
_CONTAINERS = {"Sequential", "Module"}  # of torch, which functions fill
_FACTORY_NAME = re.compile(r"create|build|make|get|init|model|net|vi_?t|vision_?transformer", re.IGNORECASE)


def model_classes(definitions: Definitions) -> list[Definition]:
    """List what may be the model, the most likely first by ``evidence``.

    These are the ``nn.Module`` classes that the student wrote, and after them functions that return one; or
    without a class, pairs of functions that make parameters and compute with them.
    """
    found = [one for one in definitions.all.values() if one.is_module or _is_factory(one, definitions)]
    found += [one for one in definitions.class_methods() if _makes_its_class(one)]
    found = found or function_pairs(definitions)
    return sorted(found, key=lambda one: evidence(one, definitions), reverse=True)


def evidence(definition: Definition, definitions: Definitions) -> float:
    """Weigh what the code alone says for ``definition``; trying it adds a point for each step that it gets.

    No other class uses the model, it uses many others, and it is often called ViT.
    """
    if isinstance(definition.node, ast.FunctionDef):
        return 0.75 + 0.1 * is_named(definition) + 0.02 * min(len(definitions.reachable(definition)), 5)
    others = [one for one in definitions.all.values() if one.is_module and one != definition]
    outermost = not any(definition.name in _uses(one, definitions) for one in others)
    parts = sum(one.is_module for one in _uses(definition, definitions).values())
    return 1.0 * outermost + 1.5 * is_named(definition) + 0.25 * min(parts, 4)


def is_named(definition: Definition) -> bool:
    """Is it called as models are, and not as a part of one is?"""
    return bool(_MODEL_NAME.search(definition.name)) and not _PART_NAME.search(definition.name)


def pinned_model(definitions: Definitions, name: str) -> Definition:
    """Return the class or function called ``name``, as the assignment demands it.

    Raises NotLoaded, with the names near it, where there is none.
    """
    if name in definitions.all:
        return definitions.all[name]
    near = difflib.get_close_matches(name, definitions.all, n=3, cutoff=0.5) or sorted(definitions.all)[:10]
    known = f"there is {', '.join(near)}" if near else "no class or function is defined at all"
    raise NotLoaded(f"the assignment asks for {name}, but nothing of that name is defined: {known}")


def _is_factory(definition: Definition, definitions: Definitions) -> bool:
    if not isinstance(definition.node, ast.FunctionDef):
        return False
    modules = {name for name, one in _uses(definition, definitions).items() if one.is_module}
    if _returned(definition.node) & (modules | _CONTAINERS):
        return True
    if not _FACTORY_NAME.search(definition.name):
        return False
    returns = any(
        isinstance(node, ast.Return) and node.value is not None for node in ast.walk(definition.node)
    )
    return returns and (bool(modules) or _reads_registry(definition, definitions))


def _makes_its_class(method: Definition) -> bool:
    """Does it return an object of the class that it is a method of, as ``Model.from_config`` does?"""
    name, _, _ = method.name.partition(".")
    return isinstance(method.node, ast.FunctionDef) and name in _returned(method.node)


def _returned(function: ast.FunctionDef) -> set[str]:
    """The names of what is called for what it returns, there or where a variable is bound that it returns."""
    own = [node for statement in function.body for node in _own(statement)]
    values = [node.value for node in own if isinstance(node, ast.Return)]
    names = {one.id for one in values if isinstance(one, ast.Name)}
    bound = [node for node in own if isinstance(node, ast.Assign) and names_bound(node) & names]
    calls = (one for one in (*values, *(node.value for node in bound)) if isinstance(one, ast.Call))
    return {called(call) for call in calls}


def _own(statement: ast.stmt) -> Iterator[ast.AST]:
    """What stands in it, but not in functions that it defines."""
    yield statement
    for inner in () if isinstance(statement, DEFINITIONS) else ast.iter_child_nodes(statement):
        if isinstance(inner, ast.stmt):
            yield from _own(inner)


def _reads_registry(definition: Definition, definitions: Definitions) -> bool:
    """Does it name what registers a model: ``MODELS`` of ``@MODELS.register("vit")``, or of ``register``?"""
    registries = {
        base_name(part.func if isinstance(part, ast.Call) else part)
        for one in definitions.all.values()
        if one.is_module
        for part in one.node.decorator_list
    }
    kept = (names_in(definitions.all[one].node) for one in registries & definitions.all.keys())
    return not registries.union(*kept).isdisjoint(names_in(definition.node))


def _uses(definition: Definition, definitions: Definitions) -> dict[str, Definition]:
    """All that it names, and what objects it is made with, and what those use."""
    held = [definitions.all[one] for one in definitions.made_with.get(definition.name, ())]
    every = chain.from_iterable(map(definitions.reachable, (definition, *held)))
    return {one.name: one for one in every if one != definition}
