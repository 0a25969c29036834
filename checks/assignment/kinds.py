"""The kinds of checks that there are. Imports no torch.

Each is a file in ``checks/rules/kinds``, with a ``Kind`` above the function that looks, of which
``checks/rules/declaring.py`` makes checks. These files load torch: what they say is read off their text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ..architecture.catalogue import Severity

FOLDER = "vitcheck.checks.rules.kinds"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of checks; in its own file all of this is literal."""

    id: str  # what stands in front of "[" in the ids of its checks
    group: str  # the points under [points] that pay for it; kinds may share one
    pays_for: str  # what a handout says of these points: the first kind's of those that share them
    order: int  # in which checks are run and listed
    judges_stage: bool = False  # does a check that fails make its stage wrong?
    finished: bool = False  # are its checks about a finished model?
    of_parts: bool = False  # are they asked where single parts are handed in, too?
    part: str = ""  # which part of a model pays for it, where its checks judge no stage
    severity: Severity | None = None  # of failing it by no known mistake
    module: str = ""  # where its checks are; empty where other code makes them


_ELSEWHERE = (
    Kind(id="written", group="written", pays_for="the snapshots in the report beside the code", order=900),
    Kind(id="own", group="own", pays_for="further checks of your instructor", order=910),
)
PARTS = {"component": "components", "exercise": "exercises"}  # paid for one by one, in tables of their own


@cache
def kinds() -> Mapping[str, Kind]:
    """Every kind that a group of points pays for, by its id, in order."""
    found = sorted([*_of_files(), *_ELSEWHERE], key=lambda one: (one.order, one.id))
    return {one.id: one for one in found}


@cache
def groups() -> Mapping[str, str]:
    """What stands under [points], in order, and what a handout says of it."""
    found: dict[str, str] = {}
    for one in kinds().values():
        found.setdefault(one.group, one.pays_for)
    return found


def kind_of(name: str) -> str:
    """Such as "equation" of the check ``equation[S12]``."""
    return name.partition("[")[0].partition(".")[0]


def group_of(id: str) -> str | None:
    """Return the group that pays for a check; None for those that are paid for one by one."""
    kind = kinds().get(kind_of(id))
    return None if kind is None else kind.group


def _of_files() -> Iterator[Kind]:
    for file in files(FOLDER).iterdir():
        if file.name.endswith(".py") and file.name != "__init__.py":
            yield _declared(file.name.removesuffix(".py"), file.read_text("utf-8"))


def _declared(name: str, text: str) -> Kind:
    """What ``Kind(…)`` says in this text. Raises TypeError where it says nothing, or not all."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Name(id="Kind"), keywords=said):
                told = {str(one.arg): ast.literal_eval(one.value) for one in said}
                return Kind(**told, module=f"{FOLDER}.{name}")
    raise TypeError(f"checks/rules/kinds/{name}.py has no Kind(…)")


def judges_stage(id: str) -> bool:
    """Does this check make its stage wrong where it fails?"""
    kind = kinds().get(kind_of(id))
    return kind is not None and kind.judges_stage


def of_finished() -> list[str]:
    """The groups of points that pay for checks of a finished model."""
    return list(dict.fromkeys(one.group for one in kinds().values() if one.finished))
