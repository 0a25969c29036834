"""What an argument without a default may be given that is no size: texts, layers, and what draws numbers."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import torch
from torch import nn

from ....reading.stand_ins import layers_given
from ...loading.definitions import Definition
from ...loading.keys import compared_with
from ...loading.to_come import from_outside
from ..calls.blueprint import Literal


def no_sizes(used_in: Sequence[Definition], name: str, annotation: str, passed_on: bool) -> list[Literal]:
    """The likeliest first. ``used_in`` is the definition that takes the argument, and what it uses.

    A layer from outside that is not there gives back what it is given where that is to be ``passed_on``.
    """
    node = used_in[0].node
    found = [Literal(text) for text in compared_with(node, name)]
    if isinstance(node, ast.ClassDef) and name in layers_given(node):
        found.append(Literal(from_outside(name, passed_on)))
    found += [Literal(None), Literal(nn.Identity())] if "Module" in annotation else []
    is_generator = "Generator" in annotation or _draws(used_in, name)
    return [*found, Literal(torch.default_generator)] if is_generator else found


def _draws(used_in: Sequence[Definition], name: str) -> bool:
    """Is it handed on to draw random numbers with: ``torch.randn(4, generator=rng)``?"""
    given = (node for one in used_in for node in ast.walk(one.node) if isinstance(node, ast.keyword))
    return any(one.arg == "generator" and getattr(one.value, "id", "") == name for one in given)
