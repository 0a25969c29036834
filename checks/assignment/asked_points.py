"""The points of an assignment file, and what they pay for. Imports no torch.

Points are given to groups of checks; or, in a table of their own, to parts of the model, to stages, or as a
whole of which each mistake takes some (``checks/points`` says what a submission gets).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, create_model, model_validator
from typing_extensions import Self

from ..architecture.catalogue import Severity
from ..architecture.complaints import near
from ..record.result import Visibility
from .asked_table import AskedTable
from .kinds import PARTS, Kind, group_of, groups, kind_of, kinds

OTHERS = "default"  # in [visibility], what is not named there

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _check_id(name: str) -> str:
    kind = kind_of(name)
    if kind in kinds():
        return name
    raise ValueError(f"is the id of no check, which are such as equation[S12]; {near(kind, kinds())}")


def _group_or_check(name: str) -> str:
    known = [OTHERS, *groups(), *PARTS.values()]
    if name in known or (kind_of(name) in {*kinds(), *PARTS} and name != kind_of(name)):
        return name
    raise ValueError(f"{name!r} is neither a group of checks nor the id of one; {near(name, known)}")


class MistakePoints(AskedTable):
    """All points of a model, and what a mistake takes: each the same, or by how severe it is."""

    of: _Amount = 100
    each: _Amount | None = None
    minor: _Amount = 3
    major: _Amount = 12
    critical: _Amount = 50
    at_most: _Amount | None = (
        None  # taken by all mistakes, as long as most stages are right; None for no limit
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if self.each is not None and self.model_fields_set & {"minor", "major", "critical"}:
            raise ValueError("[points.mistakes] has each and a severity: give one of both")
        return self

    def cost(self, severity: Severity) -> float:
        """The points that a mistake takes."""
        return self.each if self.each is not None else float(getattr(self, severity))


class _Points(AskedTable):
    """What each group of checks is worth in all; ``checks`` gives single ones a share of their own.

    ``parts``, ``stages`` or ``mistakes``, one of them, pays for the model in place of its groups.
    """

    written: _Amount = 0
    own: _Amount = 0
    out_of: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None  # all points, answers too
    told_later: _Amount = 0  # in a file for students: of checks that they do not see yet
    checks: dict[Annotated[str, AfterValidator(_check_id)], _Amount] = {}
    parts: dict[str, _Amount] = {}
    stages: dict[str, _Amount] = {}
    mistakes: MistakePoints | None = None

    @model_validator(mode="after")
    def _within_the_totals(self) -> Self:
        for group in groups():
            single = sum(amount for name, amount in self.checks.items() if group_of(name) == group)
            if single > self.of(group):
                raise ValueError(f"single checks of {group} get {single:g}, more than its {self.of(group):g}")
        return self

    @model_validator(mode="after")
    def _in_one_way(self) -> Self:
        ways = [name for name in ("parts", "stages", "mistakes") if getattr(self, name)]
        if len(ways) > 1:
            raise ValueError(f"pays in two ways: keep [points.{ways[0]}] or [points.{ways[1]}]")
        twice = [one.group for one in kinds().values() if self.of(one.group) and self._covers(one)]
        if twice:
            raise ValueError(f"[points.{ways[0]}] pays for what {twice[0]} pays for, too: leave one out")
        return self

    def _covers(self, kind: Kind) -> bool:
        """Do parts or stages pay for checks of this kind already? Mistakes leave out what has a group."""
        if self.parts:
            return kind.judges_stage or kind.part in self.parts
        return kind.judges_stage and bool(self.stages or self.mistakes)

    def of(self, group: str) -> float:
        """The points of a group."""
        return float(getattr(self, group))

    @property
    def possible(self) -> float:
        """All points that [points] gives."""
        whole = self.told_later + (self.mistakes.of if self.mistakes else 0.0)
        return sum(map(self.of, groups())) + sum(self.parts.values()) + sum(self.stages.values()) + whole


if TYPE_CHECKING:
    Points = _Points
else:  # a key for each group: they are known when the files of all kinds of checks are read
    of_groups = dict.fromkeys(groups(), (_Amount, 0))
    Points = create_model("Points", __base__=_Points, __module__=__name__, **of_groups)

Visibilities = dict[Annotated[str, AfterValidator(_group_or_check)], Visibility]
