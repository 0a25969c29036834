"""One small change that makes a wrong program right: the line that is to blame, and what stands there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ...submissions.errors import Frame
from ...submissions.reading.edits.edit import Edit


@dataclass(frozen=True)
class Repair:
    """A change, and the key of the stage that it mends: the first that is computed otherwise with it."""

    edit: Edit
    stage: str
    mends: frozenset[str] = frozenset()  # keys of other stages that are right once it is made
    follows: frozenset[str] = frozenset()  # of them those that are right already, but for what they are given

    @property
    def frame(self) -> Frame:
        return self.edit.frame


def repair_at(repairs: Iterable[Repair], key: str) -> Repair | None:
    """The change that makes a stage right."""
    return next((one for one in repairs if one.stage == key), None)
