"""What other packages, and checks of an instructor's own, import of vitcheck: this and nothing else.

Names that stand here stay, wherever what they name moves to. Each is imported when it is first asked for, so
that tables are listed without loading torch.
"""

from __future__ import annotations

import ast
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the one list: type checkers read it, and so does ``_homes``
    # Sorted by what they are for:
    # isort: off

    # An architecture: its table of stages, its sizes
    from vitcheck.checks.architecture.family import Family as Family
    from vitcheck.checks.architecture.sampling import Integer as Integer, Sampling as Sampling
    from vitcheck.reference.model_sizes import ModelSizes as ModelSizes
    from vitcheck.reference.stages import Stage as Stage

    # How its stages are found
    from vitcheck.checks.locating.anatomy import Anatomy as Anatomy, Input as Input
    from vitcheck.checks.locating.best_first import UNKNOWN as UNKNOWN, Option as Option
    from vitcheck.checks.locating.comparing import equal as equal, far as far
    from vitcheck.checks.locating.context import Context as Context, Predict as Predict, as_rows as as_rows
    from vitcheck.checks.locating.search.norms import BatchNorm as BatchNorm, Norm as Norm
    from vitcheck.checks.locating.search.parameter_search import LinearMap as LinearMap
    from vitcheck.checks.locating.walk import Walk as Walk, applied as applied, combine as combine
    from vitcheck.checks.locating.walk import right_of as right_of, stage_of as stage_of
    from vitcheck.checks.locating.wiring.graph_tensors import (
        sequences as sequences,
        settle_unknown as settle_unknown,
    )
    from vitcheck.checks.vit.block_outputs import settle_block_outputs as settle_block_outputs
    from vitcheck.submissions.host.trace import Use as Use

    # How its blocks are wired
    from vitcheck.checks.locating.wiring.blocks import pre_norm as pre_norm
    from vitcheck.checks.locating.wiring.branches import SCALE_MOVED as SCALE_MOVED, attention as attention
    from vitcheck.checks.locating.wiring.operators import FormRow as FormRow, Moved as Moved

    # Equations, right and wrong
    from vitcheck.checks.locating.forms import LOGITS as LOGITS, NORMS as NORMS
    from vitcheck.checks.locating.forms import VARIANT as VARIANT, Form as Form
    from vitcheck.reference.equations import attention_probabilities as attention_probabilities

    # What is right beside them
    from vitcheck.checks.examining.measures import MEASURES as MEASURES
    from vitcheck.checks.rules.invariants import INVARIANTS as INVARIANTS
    from vitcheck.checks.rules.properties import PROPERTIES as PROPERTIES
    from vitcheck.checks.rules.properties.passes import example_of as example_of
    from vitcheck.checks.rules.rulebook import Rulebook as Rulebook

    # What a check is given, and how it ends
    from vitcheck.checks.examining.drawing import Draw as Draw
    from vitcheck.checks.examining.examination import Examination as Examination
    from vitcheck.checks.examining.passes.example import Example as Example
    from vitcheck.checks.examining.passes.replay import Seen as Seen
    from vitcheck.checks.examining.strategies import draws as draws
    from vitcheck.checks.examining.verdicts import CheckFailed as CheckFailed
    from vitcheck.checks.examining.verdicts import NotApplicable as NotApplicable, NotReached as NotReached
    # isort: on


@cache
def _homes() -> dict[str, str]:
    """The module of each name in the list above."""
    tree = ast.parse(Path(__file__).read_text("utf-8"))
    listed = next(one for one in tree.body if isinstance(one, ast.If))
    found = (one for one in listed.body if isinstance(one, ast.ImportFrom))
    return {alias.name: str(one.module) for one in found for alias in one.names}


def __getattr__(name: str) -> Any:
    if name not in _homes():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted(_homes())
