"""Stochastic depth drops a branch, and not what the branch is added to (Huang et al. 2016).

What is kept is scaled up, as by dropout (Srivastava et al. 2014), so that its mean stays the same.
"""

from __future__ import annotations

import ast

from ....submissions.errors import Frame
from ....submissions.questions.uses import KEPT, REACH
from ....submissions.reading.code import parsed
from ....submissions.reading.code_scopes import called
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotApplicable
from . import holds
from .passes import example_of

_RANDOM = ("bernoulli", "bernoulli_", "rand", "rand_like", "uniform_")


@holds(order=130)
def images_reach_scores(examination: Examination) -> None:
    """In train mode every image reaches its scores, whatever branches are dropped.

    Else: In train mode some images do not reach their scores
    """
    draw = example_of(examination).draw
    use = examination.used().get(REACH)
    if use is None or use.error is not None or not use.tensors:
        raise NotApplicable("no module of the code's own drops anything in train mode")
    (reached,) = use.tensors
    # a class token may see no image where all of its attention is dropped, which is rare
    if (lost := int((reached == 0).sum())) > len(reached) / 2:
        text = f"where a third of all branches is dropped, {lost} of {len(reached)} images change no score"
        raise CheckFailed(text, ("drop-path-on-stream",), draw, _around_a_sum(examination))


@holds(order=131)
def kept_is_scaled(examination: Examination) -> None:
    """In train mode what is kept is scaled up by the share that is dropped.

    Else: In train mode some of a tensor is dropped, and the rest is not scaled up
    """
    draw = example_of(examination).draw
    use = examination.used().get(KEPT)
    if use is None or use.error is not None or not use.tensors:
        raise NotApplicable("no module of the code's own drops a part of what it is given in train mode")
    (factors,) = use.tensors
    if bool((factors == 1).any()):  # x · 1, in whatever precision: the same number
        text = (
            "where a third of it is dropped, the rest stays as it is, and its mean is lower than in eval mode"
        )
        raise CheckFailed(text, ("dropped-not-rescaled",), draw, _masking(examination))


def _masking(examination: Examination) -> Frame | None:
    """The one line on which something random is made in a method that returns a product with it."""
    methods = [
        (file, one)
        for file, tree in parsed(examination.source.files)
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and any(called(each) in _RANDOM for each in ast.walk(one))
    ]
    found = {
        Frame(file, one.lineno)
        for file, method in methods
        for one in ast.walk(method)
        if isinstance(one, ast.Return) and _is_product(one.value)
    }
    return found.pop() if len(found) == 1 else None


def _is_product(value: ast.expr | None) -> bool:
    return isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult)


def _around_a_sum(examination: Examination) -> Frame | None:
    """The line of a call that drops what a branch is added to as well, ``drop(x + branch(x))``."""
    for file, tree in parsed(examination.source.files):
        for call in (one for one in ast.walk(tree) if isinstance(one, ast.Call) and "drop" in called(one)):
            match call.args[:1]:
                case [ast.BinOp(op=ast.Add(), right=ast.Call())]:
                    return Frame(file, call.lineno)
    return None
