"""The assignment file: what a course asks for, what it accepts, what each part is worth. Imports no torch."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from ...reference.stages import Stage
from ...submissions.limits import Limits
from ..architecture.complaints import complaints, line_of, near
from ..architecture.family import ArchitectureError, Family, family, family_names
from ..record.hint_rungs import Hints
from ..record.result import Asked, Visibility
from .asked_late import LatePolicy
from .asked_model import AskedModel, Blocks, FullSizes, Labels
from .asked_numbering import OWN, Numbering, numbered
from .asked_parts import Components, Exercises
from .asked_points import OTHERS, Points, Visibilities
from .asked_rules import Rules
from .asked_stages import AskedStages
from .asked_table import AskedTable
from .asked_variants import Variants
from .asked_writing import WrittenPart
from .kinds import PARTS, group_of, kind_of, kinds, of_finished
from .known_keys import known_keys

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


class AssignmentError(Exception):
    """An assignment that cannot be used; the message names the file, the line, the key and the way out."""


def _renamed(axes: str, letters: Mapping[str, str]) -> str:
    return " ".join(letters.get(letter, letter) for letter in axes.split())


def _positive(limits: Limits) -> Limits:
    for name, value in asdict(limits).items():
        if value <= 0:
            raise ValueError(f"{name} must be more than 0, and is {value}")
    return limits


class Assignment(AskedTable):
    """One assignment: a whole model, or parts, or both. ``full`` are the sizes asked for, with one image."""

    name: str
    title: str
    architecture: str = "vit"  # whose table of stages; others come with packages
    architectures: Blocks = ()  # the kinds of blocks of the whole model; none where only parts are asked for
    stages: AskedStages = ()  # keys of those that are asked for; none where it is all of the model
    labels: Labels = ("report", "sheet")
    numbering: Numbering = {}  # the course's own, which labels calls own
    examples: Annotated[int, Field(ge=2)] = 5
    model: AskedModel = AskedModel()
    outputs: tuple[Literal["patch-tokens", "class-attention"], ...] = ()
    full: FullSizes = Field(alias="sizes")
    variants: Variants = Variants()
    points: Points = Points()
    for_students: bool = False  # is this the file that students get? Then they see what their records have
    visibility: Visibilities = {}
    hints: Hints = Hints.EXPLAIN  # the lowest rung that students see
    components: Components = {}
    exercises: Exercises = {}
    limits: Annotated[Limits, AfterValidator(_positive)] = Limits()
    rules: Rules = Rules()
    written: WrittenPart | None = None
    late: LatePolicy | None = None
    _asked_for: str = PrivateAttr("")  # by name or path

    @property
    def known_as(self) -> str:
        """What ``--assignment`` takes for it: a name that ships, or that of its file, without folders."""
        return Path(self._asked_for).name or self.name

    @property
    def asked_for(self) -> str:
        """The same where it was asked for: a name that ships, or the path that was given."""
        return self._asked_for or self.name

    @property
    def asked(self) -> Asked:
        """How the record tells of it."""
        kinds = [*self.architectures]
        return Asked(known_as=self.known_as, title=self.title, architectures=kinds, hints=self.hints)

    @model_validator(mode="after")
    def _asks_for_something(self) -> Assignment:
        if not self.architectures and not self.components and not self.exercises:
            raise ValueError("asks for nothing: it needs architectures, [components] or [exercises]")
        if self.architectures and "points" not in self.model_fields_set:
            raise ValueError("points is missing: it says what each group of checks is worth")
        if not self.architectures and self.points.possible:
            raise ValueError("[points] pays for checks of a whole model, and architectures asks for none")
        if self.points.written and self.written is None:
            raise ValueError("[points] pays for written, and there is no table [written] that asks for it")
        left = self.points.out_of is None or self.points.out_of > self.possible_by_hand
        if not left or (self.points.out_of and not self._of_checks):
            raise ValueError("[points] out_of leaves nothing for checks: it has to be more than answers get")
        if paid := [one for one in of_finished() if self.stages and self.points.of(one)]:
            raise ValueError(f"stages asks for a part of a model: give {paid[0]}, of a whole one, 0 points")
        return self

    @model_validator(mode="after")
    def _pays_for_what_there_is(self) -> Assignment:
        parts = {*(one.part for one in self.family.stages), *(one.part for one in kinds().values())} - {""}
        for name in (one for one in self.points.parts if one not in parts):
            raise ValueError(f"[points.parts] names {name!r}; {near(name, sorted(parts))}")
        labels = [one.label for one in self.family.stages]
        for name in (one for one in self.points.stages if one not in labels):
            raise ValueError(f"[points.stages] names {name!r}; {near(name, labels)}")
        return self

    @model_validator(mode="after")
    def _numbers_what_it_labels(self) -> Assignment:
        if OWN in self.labels and not self.numbering:
            raise ValueError('labels has "own", and there is no table [numbering] that says it')
        return self

    @model_validator(mode="after")
    def _asks_about_stages(self) -> Assignment:
        labels = {one.label for one in self.family.stages}
        for id, question in (self.written.questions if self.written else {}).items():
            if unknown := [one for one in question.stages if one not in labels]:
                raise ValueError(f"[written.questions.{id}] names {unknown[0]}, which is not a stage")
        return self

    @property
    def family(self) -> Family:
        """The architecture that is asked for."""
        return numbered(self.architecture, self.numbering)

    def asks(self, stage: str | None) -> bool:
        """Is this stage asked for, by its key? What is of no single stage is asked of a whole model alone."""
        return not self.stages or stage in self.stages

    def table_of(self, kind: str) -> tuple[Stage, ...]:
        """Return the stages of a model with this kind of blocks and the variants that are asked for."""
        asked = [self.family.mistake(id) for id, rule in self.variants.by_id.items() if rule.asked]
        without = {key for one in asked for key in one.without}
        rows = [one for one in self.family.blocks[kind] if one.key not in without]
        for one in asked:
            rows = [
                replace(row, axes=_renamed(row.axes, one.axes), **one.instead.get(row.key, {}))
                for row in rows
            ]
        return tuple(rows)

    @property
    def possible(self) -> float:
        """All points that can be earned."""
        return self._of_checks * self.scale + self.possible_by_hand

    @property
    def scale(self) -> float:
        """What the points of checks count, where all points are to be ``out_of`` so many."""
        out_of = self.points.out_of
        return 1.0 if out_of is None else (out_of - self.possible_by_hand) / self._of_checks

    @property
    def _of_checks(self) -> float:
        parts = [*self.components.values(), *self.exercises.values()]
        return self.points.possible + sum(one.points for one in parts)

    @property
    def possible_by_hand(self) -> float:
        """Those of them that a person gives, for answers in writing."""
        return self.written.possible if self.written else 0.0

    @property
    def possible_elsewhere(self) -> float:
        """Those that no check here gives: by hand, or told later."""
        return self.possible_by_hand + self.points.told_later * self.scale

    def allows(self, name: str) -> tuple[bool, str | None]:
        """Say whether the mistake or variant called ``name`` is accepted, and the reason that the file gives.

        Errors are accepted only where the file says so. Raises ValueError for an unknown id.
        """
        if rule := self.variants.by_id.get(self.family.mistake(name).id):
            return rule.allow, rule.reason
        return self.family.mistake(name).kind != "error" and self.variants.default == "allow", None

    @property
    def asks_sizes(self) -> bool:
        """Are its sizes asked for, or only those at which shapes are shown?"""
        rule = self.variants.by_id.get("default-size-wrong")
        return rule is None or not rule.allow

    def shows(self, id: str) -> bool:
        """Is this check told whoever has this file? Only what students have keeps something back."""
        return not self.for_students or self.visibility_of(id) is Visibility.VISIBLE

    def visibility_of(self, id: str) -> Visibility:
        """Say when students may see how the check ended: its own entry, else that of its group."""
        group = group_of(id) or PARTS[kind_of(id)]
        asked = self.visibility
        return asked.get(id, asked.get(group, asked.get(OTHERS, Visibility.VISIBLE)))


def assignment_names() -> list[str]:
    """Return the names of the assignments that ship, with vitcheck or with an architecture that is installed.

    Those of an architecture that cannot be loaded are left out.
    """
    return sorted(_shipped()[0])


def _shipped() -> tuple[dict[str, Traversable], list[ArchitectureError]]:
    """Their files by name, and what is wrong with architectures that cannot be loaded."""
    found: dict[str, Traversable] = {}
    broken = []
    for name in reversed(family_names()):  # vitcheck's own names stand
        try:
            found |= family(name).assignments
        except ArchitectureError as error:
            broken.append(error)
    return found, broken


def load_assignment(name_or_path: str) -> Assignment:
    """Load an assignment that ships, by its name, or one from a TOML file.

    Raises AssignmentError, with a line for everything that is wrong in the file.
    """
    assignment = parse_assignment(assignment_text(name_or_path), name_or_path)
    assignment._asked_for = name_or_path
    return assignment


def assignment_text(name_or_path: str) -> str:
    """Return the text of such an assignment, whether it is valid or not.

    Raises AssignmentError where there is none, or it cannot be read.
    """
    own = family("vit").assignments  # other packages are looked at only where it is none of these
    if shipped := own.get(name_or_path):
        return shipped.read_text("utf-8")
    path = Path(name_or_path)  # a file beside a student's work may be called as an assignment is
    others, broken = ({}, []) if path.suffix and path.is_file() else _shipped()
    if shipped := others.get(name_or_path):
        return shipped.read_text("utf-8")
    if path.is_file():
        try:
            return path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise AssignmentError(f"{path} cannot be read: {error}") from error
    missing = f"there is no assignment and no file {name_or_path!r}; {near(name_or_path, sorted(others))}"
    raise AssignmentError("\n".join([missing, *map(str, broken)]))


def parse_assignment(text: str, file: str) -> Assignment:
    """Read an assignment from TOML; messages call it ``file``.

    Raises AssignmentError, with a line for everything that is wrong.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise AssignmentError(f"{file} is not TOML: {error}") from error
    try:
        asked = family(str(table.get("architecture", "vit")))
    except ArchitectureError as error:
        raise AssignmentError(f"{file}, line {line_of(text, ('architecture',))}: {error}") from error
    if "architecture" in table:  # all of its blocks, where none are named
        table.setdefault("architectures", list(asked.blocks))
    if "numbering" in table:
        table.setdefault("labels", [OWN])
    try:  # as JSON, where strict means that no text passes for a number, and a list is a tuple
        given = json.dumps(table, default=str)
        return Assignment.model_validate_json(given, strict=True, context={"family": asked})
    except ValidationError as error:
        found = complaints(error, text, lambda keys: known_keys(keys, asked, Assignment))
        raise AssignmentError("\n".join(f"{file}, {one}" for one in found)) from None
