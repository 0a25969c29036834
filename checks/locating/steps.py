"""What a walk settles: the stages one after the other, what lies between two, and what is found of them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .context import Predict
from .search.places import Found


@dataclass(frozen=True)
class Finding:
    """A mistake or variant, the stage to blame, and the record where it shows (None: in no record)."""

    id: str
    stage: str
    record: int | None


@dataclass(frozen=True)
class Step:
    """One stage of one block as it was settled.

    ``predict`` gives the student's tensor on any trace with the same operations; ``right`` what the right
    equation gives from the same inputs. ``found`` is None where the tensor is implied by a later one.
    ``explained`` is False where no known equation gives the student's tensor; ``message`` then says what was
    measured of it, and ``variants`` give what the equations of known variants do.
    """

    key: str
    block: int
    predict: Predict
    right: Predict
    found: Found | None
    findings: tuple[Finding, ...] = ()
    explained: bool = True
    message: str = ""
    variants: tuple[Predict, ...] = ()
    part: int | None = None  # the record of what it is made of, where the message is about that

    def renamed(self, id: str, other: str) -> Step:
        """The step with the ``other`` id for every finding of this one."""
        found = (replace(one, id=other) if one.id == id else one for one in self.findings)
        return replace(self, findings=tuple(found))


@dataclass(frozen=True)
class Made:
    """A tensor between two stages: the student's, and what is right from the same stages."""

    predict: Predict
    right: Predict
    began: int = 0  # the record at which it begins: what is made of it comes later
    stage: str = ""  # that is to blame for it, where it is none itself
