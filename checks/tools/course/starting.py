"""The files that a course starts with: an assignment, what students get, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import tomlkit
from tomlkit import TOMLDocument
from tomlkit.items import Item, Table

from ....reference.components import COMPONENTS
from ....reference.exercises import EXERCISES
from ...architecture.catalogue import Severity
from ...assignment.asked_points import MistakePoints
from ...assignment.assignment import Assignment, assignment_text, parse_assignment
from ...assignment.kinds import groups, of_finished
from ...locating.search.shapes import labelled
from .for_handout import handout_text
from .rendering import render
from .skeleton import notebook, rows, skeleton

FILE = "vit_transformer.py"  # what students hand in, and the solution is called
_OF_PRESET = ("patch", "embed_dim", "heads", "mlp_dim", "depth")
_ADVICE = "# Copy this file to make"  # the line of a shipped assignment that says what has been done here


@dataclass(frozen=True)
class Wishes:
    """What is asked for; what is None stays as it is in the assignment ``start``, a name or a file."""

    name: str
    start: str
    title: str | None = None
    stages: str | None = None  # such as S01-S08
    preset: str | None = None
    image: tuple[int, int] | None = None  # height, width
    classes: int | None = None


def course_files(wishes: Wishes) -> dict[str, str]:
    """Return the text of each file by its path.

    Raises AssignmentError where ``start`` cannot be used, or with these wishes is no valid assignment.
    """
    text = _assignment_text(wishes)
    of_students = handout_text(text)
    asked = parse_assignment(of_students, "assignment.toml")
    values = {"asked": asked, "file": FILE, "name": Path(FILE).stem, "version": version("vitcheck")}
    return {
        "README.md": render("course", **values),
        "assignment.toml": text,
        "handout/README.md": render("handout", stages=_stages(asked), paid=_paid(asked), **values),
        "handout/assignment.toml": of_students,
        f"handout/{FILE}": skeleton(asked),
        f"handout/{Path(FILE).stem}.ipynb": notebook(asked),
        "handout/.github/workflows/vitcheck.yml": render("workflow", **values),
        "handout/.devcontainer/devcontainer.json": render("devcontainer", **values),
        "solution/README.md": render("solution", **values),
    }


def write_files(files: Mapping[str, str], folder: Path, *, force: bool) -> None:
    """Write them into ``folder``, which need not exist.

    Raises FileExistsError, before anything is written, for those that are there already, unless ``force``.
    """
    there = [name for name in files if (folder / name).exists()]
    if there and not force:
        raise FileExistsError(", ".join(str(folder / name) for name in there))
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def _assignment_text(wishes: Wishes) -> str:
    """The text of the assignment to start from, its comments and all, with what is wished changed."""
    text = assignment_text(wishes.start)
    parse_assignment(text, wishes.start)
    document = tomlkit.parse("".join(one for one in text.splitlines(True) if not one.startswith(_ADVICE)))
    document["name"] = wishes.name
    if wishes.title is not None:
        document["title"] = wishes.title
    if wishes.stages is not None:
        _restrict(document, wishes.stages)
    _resize(document["sizes"], wishes)
    return tomlkit.dumps(document)


def _restrict(document: TOMLDocument, stages: str) -> None:
    """What is asked of a whole model alone is worth nothing in a part of one."""
    document["stages"] = stages
    points = document["points"]
    assert isinstance(points, Table)
    for group in (one for one in of_finished() if one in points):
        points[group] = 0


def _resize(sizes: Item, wishes: Wishes) -> None:
    assert isinstance(sizes, Table)  # a valid assignment has it
    height, width = wishes.image or (None, None)
    changes = {"preset": wishes.preset, "height": height, "width": width, "classes": wishes.classes}
    if wishes.preset is not None:
        for key in _OF_PRESET:
            sizes.pop(key, None)
    for key, value in changes.items():
        if value is not None:
            sizes[key] = value
    if "preset" in sizes and any(value is not None for value in changes.values()):
        sizes["preset"].comment("")  # it told the old sizes


def _paid(asked: Assignment) -> list[tuple[float, str]]:
    """What there are points for, and how many: the model, groups of checks, components, exercises."""
    paid = [(round(amount * asked.scale, 2), text) for amount, text in _paid_by_checks(asked)]
    return [*paid, *([(asked.possible_by_hand, "answers in writing")] if asked.possible_by_hand else ())]


def _paid_by_checks(asked: Assignment) -> list[tuple[float, str]]:
    points = asked.points
    whole = [(points.mistakes.of, _taken(points.mistakes))] if points.mistakes else []
    return [
        *whole,
        *((amount, f"the {part}, stage by stage") for part, amount in points.parts.items()),
        *((amount, f"{label} {asked.family.stage(label).title}") for label, amount in points.stages.items()),
        *((points.of(group), text) for group, text in groups().items() if points.of(group)),
        *((part.points, COMPONENTS[key].title) for key, part in asked.components.items()),
        *((part.points, EXERCISES[key].title) for key, part in asked.exercises.items()),
        *([(points.told_later, "further checks, which you are told of later")] if points.told_later else ()),
    ]


def _taken(asked: MistakePoints) -> str:
    costs = ", ".join(f"a {one} one {asked.cost(one):g}" for one in get_args(Severity))
    most = "" if asked.at_most is None else f"; {asked.at_most:g} at most"
    return f"the model; mistakes take points from it: {costs}{most}"


def _stages(asked: Assignment) -> list[dict[str, str]]:
    """The rows of a table for students."""
    return [
        {
            "labels": ", ".join(asked.family.labels_of(row.key, asked.labels[0])),
            "title": row.title,
            "key": row.key,
            "shape": labelled(row.axes, row.shape(asked.full)),
        }
        for row in rows(asked)
    ]
