"""Other spellings of the same mathematics, for every base that has the place."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from corpus import BASES

from .mutant import Change, Refactoring, Rewrite
from .styles import STYLES


@dataclass(frozen=True)
class Renamed:
    """Every argument and variable of the methods gets another name, and layouts and comments are lost."""

    def apply(self, text: str, base: str) -> str:
        tree = ast.parse(text)
        for one in ast.walk(tree):
            if isinstance(one, ast.FunctionDef) and _is_a_method(one):
                _rename(one)
        return ast.unparse(tree)


def _is_a_method(function: ast.FunctionDef) -> bool:
    """Whether it is one that nobody calls by keywords, as constructors are."""
    return [one.arg for one in function.args.args[:1]] == ["self"] and function.name != "__init__"


def _rename(function: ast.FunctionDef) -> None:
    names = {one.arg for one in ast.walk(function) if isinstance(one, ast.arg)} - {"self"}
    names |= {
        one.id for one in ast.walk(function) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    for one in ast.walk(function):
        if isinstance(one, ast.Name) and one.id in names:
            one.id += "_of_mine"
        elif isinstance(one, ast.arg) and one.arg in names:
            one.arg += "_of_mine"


@dataclass(frozen=True)
class Reordered:
    """Layers are built in the opposite order, where they do not depend on each other."""

    def apply(self, text: str, base: str) -> str:
        tree = ast.parse(text)
        for one in ast.walk(tree):
            if isinstance(one, ast.FunctionDef) and one.name == "__init__":
                one.body = list(_reversed_runs(one.body))
        return ast.unparse(tree)


def _reversed_runs(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    run: list[ast.stmt] = []
    for statement in body:
        if _builds_a_layer(statement):
            run.append(statement)
        else:
            yield from reversed(run)
            yield statement
            run = []
    yield from reversed(run)


def _builds_a_layer(statement: ast.stmt) -> bool:
    """Whether it is ``self.name = call(…)`` that reads no ``self``."""
    return (
        isinstance(statement, ast.Assign)
        and isinstance(statement.targets[0], ast.Attribute)
        and isinstance(statement.value, ast.Call)
        and "self" not in {one.id for one in ast.walk(statement.value) if isinstance(one, ast.Name)}
    )


_UNUSUAL_AXES = {"einsum_style"}  # tokens before heads

_Rewording: TypeAlias = tuple[str, Change, Collection[str]]  # with the bases that it does not fit

_OF_THE_WHOLE: tuple[_Rewording, ...] = (
    ("renamed", Renamed(), ()),
    ("layers built in the other order", Reordered(), ()),
)
_SPELLINGS: tuple[_Rewording, ...] = (
    ("channels moved last", Rewrite("convolved", "Z.permute(0, 2, 3, 1).flatten(1, 2)"), ()),
    ("positions first", Rewrite("positions", "R + Z"), ()),
    (
        "scores by einsum",
        Rewrite("scores", 'torch.einsum("...id,...jd->...ij", Q, K) / Q.shape[-1] ** 0.5'),
        _UNUSUAL_AXES,
    ),
    ("query scaled first", Rewrite("scores", "(Q * Q.shape[-1] ** -0.5) @ K.mT"), _UNUSUAL_AXES),
    ("softmax through log-softmax", Rewrite("softmax", "S.log_softmax(-1).exp()"), ()),
    ("softmax through log-sum-exp", Rewrite("softmax", "(S - S.logsumexp(-1, keepdim=True)).exp()"), ()),
    ("context by einsum", Rewrite("context", 'torch.einsum("...ij,...jd->...id", S, V)'), _UNUSUAL_AXES),
    ("heads joined one by one", Rewrite("merge", "torch.cat(C.unbind(1), dim=-1)"), ()),
    ("residual the other way round", Rewrite("attention sum", "torch.add(O, I)"), ()),
    (
        "norm as a function",
        Rewrite("norm2", "nn.functional.layer_norm(I, I.shape[-1:], L.weight, L.bias, L.eps)"),
        {"handwritten_norm"},
    ),
    (
        "norm by hand",
        Rewrite(
            "norm1",
            "(I - I.mean(-1, keepdim=True)) * (I.var(-1, keepdim=True, correction=0) + N.eps).rsqrt()"
            " * N.weight + N.bias",
        ),
        {"handwritten_norm"},
    ),
    ("class token by select", Rewrite("readout", "Z.select(1, 0)"), ()),
)


def reworded(written: Collection[Refactoring]) -> Iterator[Refactoring]:
    """Every rewording of every base that it fits, but for what is ``written`` already."""
    names = {one.name for one in written}
    for title, change, excepted in (*_OF_THE_WHOLE, *_SPELLINGS):
        for base in STYLES:
            one = Refactoring(title, base, (change,))
            if base not in excepted and one.name not in names and _changes(change, base):
                yield one


def _changes(change: Change, base: str) -> bool:
    text = BASES[base].source()
    return change.apply(text, base) not in (None, text)
