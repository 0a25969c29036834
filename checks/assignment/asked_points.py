"""The points of an assignment file, and which group of checks they pay for. Imports no torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, Field, create_model, model_validator
from typing_extensions import Self

from ..architecture.complaints import near
from .asked_table import AskedTable
from .kinds import PARTS, group_of, groups, kind_of, kinds

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def _check_id(name: str) -> str:
    kind = kind_of(name)
    if kind in kinds():
        return name
    raise ValueError(f"is the id of no check, which are such as equation[S12]; {near(kind, kinds())}")


def _group_or_check(name: str) -> str:
    known = [*groups(), *PARTS.values()]
    if name in known or (kind_of(name) in {*kinds(), *PARTS} and name != kind_of(name)):
        return name
    raise ValueError(f"{name!r} is neither a group of checks nor the id of one; {near(name, known)}")


class _Points(AskedTable):
    """What each group of checks is worth in all; ``checks`` gives single ones a share of their own."""

    written: _Amount = 0
    own: _Amount = 0
    checks: dict[Annotated[str, AfterValidator(_check_id)], _Amount] = {}

    @model_validator(mode="after")
    def _within_the_totals(self) -> Self:
        for group in groups():
            single = sum(amount for name, amount in self.checks.items() if group_of(name) == group)
            if single > self.of(group):
                raise ValueError(f"single checks of {group} get {single:g}, more than its {self.of(group):g}")
        return self

    def of(self, group: str) -> float:
        """The points of a group."""
        return float(getattr(self, group))

    @property
    def possible(self) -> float:
        """The points of all groups."""
        return sum(map(self.of, groups()))


if TYPE_CHECKING:
    Points = _Points
else:  # a key for each group: they are known when the files of all kinds of checks are read
    of_groups = dict.fromkeys(groups(), (_Amount, 0))
    Points = create_model("Points", __base__=_Points, __module__=__name__, **of_groups)

GroupOrCheck = Annotated[str, AfterValidator(_group_or_check)]
