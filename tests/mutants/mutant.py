"""What a mutant is, and how its source is made from a base's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from corpus import BASES

from .patterns import filled, replaced
from .places import found
from .styles import STYLES


@dataclass(frozen=True)
class Rewrite:
    """What to write, in terms of a place's letters, instead of what ``target`` stands for there."""

    place: str
    template: str
    target: str = "W"

    def apply(self, text: str, base: str) -> str | None:
        """Return ``text`` with every find rewritten; None if there is none, or the template does not fit."""
        changes = []
        for bound in found(base, self.place, text):
            code = filled(self.template, {**bound, "H": STYLES[base].heads, "D": STYLES[base].width}, text)
            node = bound[self.target]
            if code is None or isinstance(node, str):
                return None
            changes.append((node, code))
        return replaced(text, changes) if changes else None


class Change(Protocol):
    """Anything else that makes another text of a base's, or None where it does not fit."""

    def apply(self, text: str, base: str) -> str | None: ...


Edit: TypeAlias = tuple[str, str] | Change  # an exact text and what stands instead of it, or a change


@dataclass(frozen=True)
class Mutant:
    """One mistake, planted by editing the code of a correct base.

    ``stage`` is the first whose own equation is broken, given the student's own earlier stages ("" where none
    is); ``accepted`` are the ids of other mistakes with the same values, and ``elsewhere`` the stages where
    the same values may as well be blamed. An ``invisible`` mistake leaves what a forward pass returns at
    usual sizes as it is, and one that ``crashes`` raises there. ``where`` tells apart what has the same id.
    """

    id: str
    base: str
    edits: tuple[Edit, ...]
    stage: str
    accepted: tuple[str, ...] = ()
    kind: str = "error"  # error | variant | layout
    invisible: bool = False
    crashes: bool = False
    elsewhere: tuple[str, ...] = ()
    where: str = ""

    @property
    def name(self) -> str:
        return "-".join(filter(None, (self.base, self.id, self.where)))


@dataclass(frozen=True)
class Pair:
    """Two mistakes of different stages in one model."""

    first: Mutant
    second: Mutant

    @property
    def base(self) -> str:
        return self.first.base

    @property
    def edits(self) -> tuple[Edit, ...]:
        return self.first.edits + self.second.edits

    @property
    def name(self) -> str:
        return f"{self.first.name}+{self.second.id}"


@dataclass(frozen=True)
class Refactoring:
    """A rewrite of a base that changes no value."""

    title: str
    base: str
    edits: tuple[Edit, ...]

    @property
    def name(self) -> str:
        return f"{self.base}: {self.title}"


class Edited(Protocol):
    """Anything that is made of a base by editing its code."""

    @property
    def base(self) -> str: ...

    @property
    def edits(self) -> tuple[Edit, ...]: ...


def source(changed: Edited) -> str:
    """Return the base's code with the edits made.

    Raises ValueError, naming the edit, where what it replaces does not stand in the code exactly once.
    """
    text = BASES[changed.base].source()
    for edit in changed.edits:
        text = _edited(text, edit, changed.base)
    return text


def _edited(text: str, edit: Edit, base: str) -> str:
    if isinstance(edit, tuple):
        return _exchanged(text, *edit)
    rewritten = edit.apply(text, base)
    if rewritten is None:
        raise ValueError(f"{edit!r} fits nothing in {base}")
    return rewritten


def _exchanged(text: str, old: str, new: str) -> str:
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
        elsewhere: tuple[str, ...] = (),
        invisible: bool = False,
        crashes: bool = False,
        where: str = "",
    ) -> Mutant:
        others = tuple(one for one in accepted if one != mistake)
        return Mutant(mistake, self.base, edits, stage, others, kind, invisible, crashes, elsewhere, where)


def invisible(on: On, mistake: str, *edits: Edit, kind: str = "error") -> Mutant:
    """Plant a mistake that breaks no stage's equation."""
    return on(mistake, "", *edits, kind=kind, invisible=True)
