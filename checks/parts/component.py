"""One candidate for a single component under examination: all that is known of it, as of a whole model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import takewhile

import torch
from torch import Tensor

from ...reference.components import COMPONENTS
from ...submissions.host.asking import Candidate, ComponentSession
from ...submissions.host.trace import Trace
from ...submissions.reading.unwritten import early_ends
from ..examining.drawing import Draw
from ..examining.examination import Examination
from ..examining.passes.example import Example
from ..examining.passes.replay import replay
from ..examining.unfinished import Unfinished
from ..locating.reached import but_left_out
from ..locating.steps import Finding
from ..locating.walk import Walk
from .component_walk import locate_component
from .separate_results import separate_results

_OWN_ARCHITECTURES = ("report", "pre-norm")  # of a block that is asked for alone
_LIKE = {"pre-norm": "clip"}  # kinds whose blocks are wired as those of another


class ComponentExamination(Examination):
    """Answers what Examination does, of the component alone: its stages lie between input and output."""

    session: ComponentSession
    is_part = True
    to_come: frozenset[str] = frozenset()  # stages at its end of which nothing is told, since its code ends

    def __init__(self, whole: Examination, candidate: Candidate) -> None:
        session = ComponentSession(whole.session, candidate)
        super().__init__(whole.source, session, whole.assignment, whole.seed)
        self.candidate, self.passed_on = candidate, whole.passed_on
        self.is_of_lines = candidate.lines
        self.row = COMPONENTS[candidate.key]

    def input(self, draw: Draw) -> Tensor:
        """Standard normal numbers in the component's shape, float64."""
        if self.row.input == "B C H W":
            return draw.image
        generator = torch.Generator().manual_seed(draw.seed + 1)
        return torch.randn(self.row.input_shape(draw.sizes), generator=generator, dtype=torch.float64)

    def located(self, draw: Draw, trace: Trace) -> Example:
        walk, trace = self._most_found(draw, separate_results(trace) if self.is_of_lines else [trace])
        if self.ends_early:  # of what is wrong besides, that is told
            walk.steps = [replace(one, findings=but_left_out(one)) for one in walk.steps]
        return Example(draw, trace, walk, tuple(replay(walk, trace, draw.sizes)))

    def _most_found(self, draw: Draw, traces: Sequence[Trace]) -> tuple[Walk, Trace]:
        """The first of these passes that shows most of the component, else the one that shows most of all."""
        found: list[tuple[Walk, Trace]] = []
        for trace in traces:
            found.append((locate_component(self.row.key, trace, draw.sizes, self.accepted_blocks), trace))
            if 2 * _shown(found[-1][0]) > len(self.row.stages):
                return found[-1]
        return max(found, key=lambda one: _shown(one[0]))

    @cached_property
    def ends_early(self) -> bool:
        """May its code, or what it uses, end before it is finished?"""
        return self.is_of_lines or bool(early_ends(self.source.files, self.candidate.name))

    @cached_property
    def stopped_at(self) -> str | None:
        reached = {step.key for step in self.walk.steps}
        missing = [key for key in self.row.stages if key not in reached]
        return missing[0] if self.crash is not None and missing else None

    @cached_property
    def unfinished(self) -> Unfinished | None:
        """Also where it returns what it has so far, and its code says that more is to come."""
        return super().unfinished or (Unfinished(self._behind_end, None) if self._behind_end else None)

    @cached_property
    def _behind_end(self) -> tuple[str, ...]:
        """Its last stages, where it ends early and none of them is there."""
        if self.crash is not None or self.is_of_lines or not (self.examples and self.ends_early):
            return ()
        reached = {step.key for step in self.walk.steps if step.explained}
        return tuple(takewhile(lambda one: one not in reached, reversed(self.row.stages)))[::-1]

    @property
    def keys(self) -> Sequence[str]:
        """Of the stages that are its own."""
        there = {step.key for step in self.walk.steps} if self.row.also and self.examples else set()
        return (*self.row.stages, *(one for one in self.row.also if one in there))

    @property
    def asked_blocks(self) -> Sequence[str]:
        asked = self.assignment.architectures or _OWN_ARCHITECTURES
        return (*asked, *(one for one, other in _LIKE.items() if other in asked))

    def findings(self) -> list[Finding]:
        plain = self.row.key == "layer_norm_plain"
        own = (one for one in super().findings() if one.stage not in self.to_come)
        return [one for one in own if not (plain and one.id == "layernorm-no-affine")]

    def counts(self, id: str) -> bool:
        return (self.row.key == "layer_norm" and id == "layernorm-no-affine") or super().counts(id)


def _shown(walk: Walk) -> int:
    """How many stages were found."""
    return len({step.key for step in walk.steps if step.found is not None and step.found.record})
