"""What a mutant is, and how its source is made from a base's."""

from __future__ import annotations

import re
from dataclasses import dataclass

from corpus import BASES

Edit = tuple[str, str]


@dataclass(frozen=True)
class Mutant:
    """One mistake, planted by editing the code of a correct base.

    ``stage`` is the first whose own equation is broken, given the student's own earlier stages ("" where none
    is); ``accepted`` are the ids of other mistakes with the same values. An ``invisible`` mistake leaves what
    a forward pass returns at usual sizes as it is, and one that ``crashes`` raises there.
    """

    id: str
    base: str
    edits: tuple[Edit, ...]
    stage: str
    accepted: tuple[str, ...] = ()
    kind: str = "error"  # error | variant | layout
    invisible: bool = False
    crashes: bool = False

    @property
    def name(self) -> str:
        return f"{self.base}-{self.id}"


@dataclass(frozen=True)
class Refactoring:
    """A rewrite of a base that changes no value."""

    title: str
    base: str
    edits: tuple[Edit, ...]


def source(changed: Mutant | Refactoring) -> str:
    """Return the base's code with the edits made.

    Raises ValueError, naming the edit, where what it replaces does not stand in the code exactly once.
    """
    text = BASES[changed.base].source()
    for old, new in changed.edits:
        text = _edited(text, old, new)
    return text


def _edited(text: str, old: str, new: str) -> str:
    """Replace ``old`` by ``new``, its further lines indented as the line where ``old`` begins."""
    places = list(re.finditer(r"\n *".join(map(re.escape, old.split("\n"))), text))
    if len(places) != 1:
        raise ValueError(f"{old!r} stands {len(places)} times in the code, and must stand there once")
    (place,) = places
    line = text[text.rfind("\n", 0, place.start()) + 1 :]
    indent = line[: len(line) - len(line.lstrip(" "))]
    return text[: place.start()] + new.replace("\n", "\n" + indent) + text[place.end() :]


class On:
    """Plants mistakes in one base: ``On("report")("scale-missing", "S12", ("old", "new"), …)``."""

    def __init__(self, base: str) -> None:
        self.base = base

    def __call__(
        self,
        mistake: str,
        stage: str,
        *edits: Edit,
        kind: str = "error",
        accepted: tuple[str, ...] = (),
        invisible: bool = False,
        crashes: bool = False,
    ) -> Mutant:
        others = tuple(one for one in accepted if one != mistake)
        return Mutant(mistake, self.base, edits, stage, others, kind, invisible, crashes)


def invisible(on: On, mistake: str, *edits: Edit, kind: str = "error") -> Mutant:
    """Plant a mistake that breaks no stage's equation."""
    return on(mistake, "", *edits, kind=kind, invisible=True)
