"""The points of an assignment file, and which group of checks they pay for. Imports no torch."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from ..architecture.complaints import near

GROUPS = {  # what stands in front of "[" in the id of a check: the group that pays for it
    "shape": "shapes",
    "equation": "equations",
    "invariant": "invariants",
    "reference": "reference",
    "property": "properties",
    "output": "outputs",
    "parameters": "parameters",
    "breakpoint": "breakpoints",
    "prints": "prints",
    "library_model": "library_model",
    "written": "written",
    "own": "own",  # of the instructor: own.some_name, or own.some_name[S12]
}
PARTS = {"component": "components", "exercise": "exercises"}  # paid for one by one, in tables of their own

_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


def kind_of(name: str) -> str:
    """Such as "equation" of the check ``equation[S12]``."""
    return name.partition("[")[0].partition(".")[0]


def group_of(id: str) -> str | None:
    """Return the group that pays for a check; None for those that are paid for one by one."""
    return GROUPS.get(kind_of(id))


def _check_id(name: str) -> str:
    kind = kind_of(name)
    if kind in GROUPS:
        return name
    raise ValueError(f"is the id of no check, which are such as equation[S12]; {near(kind, GROUPS)}")


def _group_or_check(name: str) -> str:
    groups = GROUPS | PARTS
    if name in groups.values() or (kind_of(name) in groups and name != kind_of(name)):
        return name
    raise ValueError(
        f"{name!r} is neither a group of checks nor the id of one; {near(name, groups.values())}"
    )


class Points(BaseModel):
    """What each group of checks is worth in all; ``checks`` gives single ones a share of their own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    shapes: _Amount = 0
    equations: _Amount = 0
    invariants: _Amount = 0
    reference: _Amount = 0
    properties: _Amount = 0
    outputs: _Amount = 0
    parameters: _Amount = 0
    breakpoints: _Amount = 0
    prints: _Amount = 0
    library_model: _Amount = 0
    written: _Amount = 0
    own: _Amount = 0
    checks: dict[Annotated[str, AfterValidator(_check_id)], _Amount] = {}

    @model_validator(mode="after")
    def _within_the_totals(self) -> Points:
        for kind, group in GROUPS.items():
            single = sum(amount for name, amount in self.checks.items() if kind_of(name) == kind)
            if single > getattr(self, group):
                raise ValueError(
                    f"single checks of {group} get {single:g}, more than its {getattr(self, group):g}"
                )
        return self

    @property
    def possible(self) -> float:
        """The points of all groups."""
        return float(sum(getattr(self, group) for group in GROUPS.values()))


GroupOrCheck = Annotated[str, AfterValidator(_group_or_check)]
