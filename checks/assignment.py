"""The assignment file: what a course asks for, what it accepts, what each part is worth. Imports no torch."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from ..reference.components import COMPONENTS
from ..reference.exercises import EXERCISES
from ..reference.sizes import Sizes, preset
from ..submissions.limits import Limits
from .asked_parts import ASPECTS, Components, ExercisePart, Exercises, Part
from .catalogue import mistake
from .complaints import UNSEEN, complaints, near
from .written.asked import Question, WrittenPart

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
_PARTS = ("component", "exercise")  # which are paid for one by one, in tables of their own

_SHIPPED = files(__package__) / "assignments"
_Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class AssignmentError(Exception):
    """An assignment that cannot be used; the message names the file, the line, the key and the way out."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _argument(value: object) -> object:
    if not isinstance(value, str):
        return value
    if value.startswith("="):
        try:
            ast.literal_eval(value[1:])
        except (ValueError, SyntaxError):
            raise ValueError(f"what comes after '=' is no value of Python's: {value[1:]}") from None
        return value
    from ..submissions.parameter_names import VALUES  # here, since it loads torch

    if value not in VALUES:
        raise ValueError(f"{value!r} is no meaning; {near(value, VALUES)}. A value has '=' before it")
    return value


class Model(_Table):
    """What the assignment says of the model's class, so that it need not be inferred.

    ``arguments`` gives arguments of the constructor a meaning (``"embed_dim"``) or a value (``"=16"``).
    """

    name: str | None = None
    arguments: dict[str, Annotated[Any, AfterValidator(_argument)]] = {}


class Permission(_Table):
    """Whether a variant is accepted, and what the student is told about it."""

    allow: bool
    reason: str | None = None


def _permission(value: object) -> object:
    words: dict[object, object] = {"allow": {"allow": True}, "forbid": {"allow": False}}
    if isinstance(value, dict):
        return value
    if value in words:
        return words[value]
    raise ValueError('must be "allow", "forbid", or a table such as { allow = false, reason = "…" }')


def _variant(name: str) -> str:
    return mistake(name).id


class Variants(_Table):
    """Which forms of the model are accepted."""

    default: Literal["allow", "forbid"] = "allow"
    by_id: dict[
        Annotated[str, AfterValidator(_variant)], Annotated[Permission, BeforeValidator(_permission)]
    ] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, table: object) -> object:
        """In the file the rules stand beside the default."""
        if not isinstance(table, dict):
            return table
        default = {name: value for name, value in table.items() if name == "default"}
        return default | {UNSEEN: {name: value for name, value in table.items() if name != "default"}}


def _kind(name: str) -> str:
    return name.partition("[")[0].partition(".")[0]


def _check_id(name: str) -> str:
    kind = _kind(name)
    if kind in GROUPS:
        return name
    raise ValueError(f"is the id of no check, which are such as equation[S12]; {near(kind, GROUPS)}")


class Points(_Table):
    """What each group of checks is worth in all; ``checks`` gives single ones a share of their own."""

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
            single = sum(amount for name, amount in self.checks.items() if _kind(name) == kind)
            if single > getattr(self, group):
                raise ValueError(
                    f"single checks of {group} get {single:g}, more than its {getattr(self, group):g}"
                )
        return self

    @property
    def possible(self) -> float:
        """The points of all groups."""
        return float(sum(getattr(self, group) for group in GROUPS.values()))


class Rules(_Table):
    """The rules about the code itself that are checked."""

    breakpoints: bool = True
    prints: bool = True
    parameters: bool = False
    library_model: Annotated[Permission, BeforeValidator(_permission)] = Permission(allow=True)


def _with_preset(table: object) -> object:
    """Put the sizes of the preset where the file names no others."""
    if not isinstance(table, dict):
        return table
    if "batch" in table:
        raise ValueError("the full size is that of one image, so batch cannot be set")
    given = dict(table)
    named = given.pop("preset", None)
    if named is not None:
        return asdict(preset(str(named))) | given
    if missing := [name for name in asdict(Sizes()) if name not in given and name != "batch"]:
        raise ValueError(f'needs preset = "B/16" or the like, or also {", ".join(missing)}')
    return given


def _positive(limits: Limits) -> Limits:
    for name, value in asdict(limits).items():
        if value <= 0:
            raise ValueError(f"{name} must be more than 0, and is {value}")
    return limits


class Assignment(_Table):
    """One assignment: a whole model, or parts, or both. ``full`` are the sizes asked for, with one image."""

    name: str
    title: str
    architectures: Annotated[  # of the whole model; none where only parts are asked for
        tuple[Literal["report", "pre-norm", "clip", "post-norm"], ...], Field(min_length=1)
    ] = ()
    labels: Annotated[tuple[Literal["report", "sheet"], ...], Field(min_length=1)] = ("report", "sheet")
    examples: Annotated[int, Field(ge=2)] = 25
    model: Model = Model()
    outputs: tuple[Literal["patch-tokens", "class-attention"], ...] = ()
    full: Annotated[Sizes, BeforeValidator(_with_preset)] = Field(alias="sizes")
    variants: Variants = Variants()
    points: Points = Points()
    components: Components = {}
    exercises: Exercises = {}
    limits: Annotated[Limits, AfterValidator(_positive)] = Limits()
    rules: Rules = Rules()
    written: WrittenPart | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> Assignment:
        if not self.architectures and not self.components and not self.exercises:
            raise ValueError("asks for nothing: it needs architectures, [components] or [exercises]")
        if self.architectures and "points" not in self.model_fields_set:
            raise ValueError("points is missing: it says what each group of checks of the model is worth")
        if not self.architectures and self.points.possible:
            raise ValueError("[points] pays for checks of a whole model, and architectures asks for none")
        if self.points.written and self.written is None:
            raise ValueError("[points] pays for written, and there is no table [written] that asks for it")
        return self

    @property
    def possible(self) -> float:
        """All points that can be earned."""
        parts = [*self.components.values(), *self.exercises.values()]
        return self.points.possible + sum(one.points for one in parts) + self.possible_by_hand

    @property
    def possible_by_hand(self) -> float:
        """Those of them that a person gives, for answers in writing."""
        return self.written.possible if self.written else 0.0

    def allows(self, name: str) -> tuple[bool, str | None]:
        """Say whether the mistake or variant called ``name`` is accepted, and the reason that the file gives.

        Errors are accepted only where the file says so. Raises ValueError for an unknown id.
        """
        if rule := self.variants.by_id.get(mistake(name).id):
            return rule.allow, rule.reason
        return mistake(name).kind != "error" and self.variants.default == "allow", None

    def points_of(self, ids: Sequence[str]) -> dict[str, float]:
        """Share the points of each group among those of its checks that are in ``ids``.

        What single checks are given comes off first; the others of the group share the rest evenly.
        """
        own = {name: self.points.checks[name] for name in ids if name in self.points.checks}
        own |= {name: self._part_points(name) for name in ids if _kind(name) in _PARTS}
        members: dict[str, list[str]] = {}
        for name in ids:
            if _kind(name) in _PARTS:
                continue
            members.setdefault(GROUPS[_kind(name)], []).append(name)
        shares = {group: self._share(group, names, own) for group, names in members.items()}
        return {name: own[name] if name in own else shares[GROUPS[_kind(name)]] for name in ids}

    def _part_points(self, id: str) -> float:
        """Of ``component[mlp.shape]`` or ``exercise[fuse_heads]``."""
        kind, _, rest = id.partition("[")
        name, _, aspect = rest.rstrip("]").partition(".")
        if kind == "exercise":
            return self.exercises[name].points
        return self.components[name].points * ASPECTS[aspect].share

    def _share(self, group: str, names: Sequence[str], own: Mapping[str, float]) -> float:
        others = sum(name not in own for name in names)
        rest = getattr(self.points, group) - sum(own.get(name, 0.0) for name in names)
        return float(max(rest, 0.0) / others) if others else 0.0


def assignment_names() -> list[str]:
    """Return the names of the assignments that ship."""
    return sorted(one.name.removesuffix(".toml") for one in _SHIPPED.iterdir() if one.name.endswith(".toml"))


def load_assignment(name_or_path: str) -> Assignment:
    """Load an assignment that ships, by its name, or one from a TOML file.

    Raises AssignmentError, with a line for everything that is wrong in the file.
    """
    if name_or_path in assignment_names():
        return _parse(_SHIPPED.joinpath(f"{name_or_path}.toml").read_text("utf-8"), name_or_path)
    path = Path(name_or_path)
    if not path.is_file():
        raise AssignmentError(
            f"there is no assignment and no file {name_or_path!r}; {near(name_or_path, assignment_names())}"
        )
    try:
        return _parse(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise AssignmentError(f"{path} cannot be read: {error}") from error


def _parse(text: str, file: str) -> Assignment:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AssignmentError(f"{file} is not TOML: {error}") from error
    try:  # as JSON, where strict means that no text passes for a number, and a list is a tuple
        return Assignment.model_validate_json(json.dumps(table, default=str), strict=True)
    except ValidationError as error:
        raise AssignmentError("\n".join(f"{file}, {one}" for one in complaints(error, text, _keys))) from None


def _keys(table: tuple[str, ...]) -> list[str]:
    """Return the keys that a table of the file may hold."""
    if table == ("sizes",):
        return ["preset", *(name for name in Sizes.__dataclass_fields__ if name != "batch")]
    if table == ("limits",):
        return list(Limits.__dataclass_fields__)
    models: dict[tuple[str, ...], type[BaseModel]] = {
        (): Assignment,
        ("model",): Model,
        ("points",): Points,
        ("rules",): Rules,
        ("written",): WrittenPart,
    }
    if table in (("components",), ("exercises",)):
        return list(COMPONENTS if table == ("components",) else EXERCISES)
    parts: dict[str, type[BaseModel]] = {
        "components": Part,
        "exercises": ExercisePart,
        "written": Question,
    }
    model = models[table] if table in models else parts.get(table[0], Permission)
    return [field.alias or name for name, field in model.model_fields.items()]
