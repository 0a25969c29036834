"""Submissions examined in this process: as grading does it, without a process of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from corpus import BASES, Base, load_source
from mutants import MUTANTS, source
from torch import nn
from wired import answered

from vitcheck.checks.assignment.asked_variants import Permission
from vitcheck.checks.assignment.assignment import Assignment, load_assignment
from vitcheck.checks.examining.examination import Examination
from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child import requests
from vitcheck.submissions.child.subject import Submission
from vitcheck.submissions.child.tracing.tracing import RAN
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.reading.source import Source

_SHIPPED = load_assignment("vit-debugging")
_NOT_ALLOWED = {id: rule for id, rule in _SHIPPED.variants.by_id.items() if not rule.allow}
BRIEF: Assignment = _SHIPPED.model_copy(
    update={"examples": 2, "variants": _SHIPPED.variants.model_copy(update={"by_id": _NOT_ALLOWED})}
)  # and no error is accepted
torch.set_num_threads(1)  # as grading does: tensors are small
_MUTANTS = {one.name: one for one in MUTANTS}


class Here:
    """Answers requests as a child does; builds ``text`` as the corpus builds ``base``."""

    prints_in_passes = False

    def __init__(self, text: str, base: Base) -> None:
        RAN.clear()  # a process of its own would have run nothing yet
        self._module, self._base = load_source(text, base.name), base

    def request(self, header: Mapping[str, Any], **_: object) -> Any:
        controls = SimpleNamespace(assignment={}, fixed={})  # a base has no defaults that count
        recipe = SimpleNamespace(build=self._build, sizes_for=self._sizes_for, controls=controls)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Submission, "recipe", recipe, raising=False)
            patch.setattr(Submission, "shortening", None, raising=False)
            program = SimpleNamespace(statements={})
            nothing = SimpleNamespace(modules={}, importers={}, program=program)  # no pictures either
            patch.setattr(Submission, "loaded", nothing, raising=False)
            return answered(requests.HANDLERS, header)

    def _build(self, sizes: Sizes) -> nn.Module:
        return self._base.build(self._module, sizes)

    def _sizes_for(self, sizes: Sizes) -> Sizes:
        if self._base.rectangular:
            return sizes
        return replace(sizes, width=sizes.height)


def examine(name: str, *edits: tuple[str, str], assignment: Assignment = BRIEF, seed: int = 1) -> Examination:
    """A base or a mutant of the corpus, with each edit's first text replaced by its second."""
    mutant = _MUTANTS.get(name)
    base = BASES[name if mutant is None else mutant.base]
    text = base.source() if mutant is None else source(mutant)
    for old, new in edits:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    submitted = Source(f"{base.name}.py", {f"{base.name}.py": text.encode()})
    return located(Examination(submitted, Session(cast(Child, Here(text, base))), assignment, seed))


def located(examination: Examination) -> Examination:
    """The same, with its passes and the stages in them."""
    examination.trace_examples()
    examination.locate_examples()
    return examination


def forbidding(*ids: str) -> Assignment:
    """The assignment, with variants that it does not accept."""
    by_id = {**BRIEF.variants.by_id, **{id: Permission(allow=False) for id in ids}}
    return BRIEF.model_copy(update={"variants": BRIEF.variants.model_copy(update={"by_id": by_id})})
