"""A student's program as somebody hands it in who did not write it."""

from __future__ import annotations

import ast
import random


def renamed(text: str) -> str:
    """Every variable and argument by another name; comments are lost."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Load) and len(node.id) < 3:
            node.id = f"my_{node.id}"
        elif isinstance(node, ast.arg) and len(node.arg) < 3:
            node.arg = f"my_{node.arg}"
    return ast.unparse(tree)


def reordered(text: str, seed: int) -> str:
    """The methods of each class, and the classes, in another order."""
    tree = ast.parse(text)
    order = random.Random(seed)
    for body in [tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))]:
        moved = [one for one in body if isinstance(one, ast.ClassDef | ast.FunctionDef)]
        body[:] = [one for one in body if one not in moved]
        order.shuffle(moved)
        body += moved
    return ast.unparse(tree)
