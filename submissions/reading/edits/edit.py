"""One small change of a program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...errors import Frame

Kind = Literal[
    "operator", "condition", "variable", "layer", "number", "argument", "option", "order", "turned",
    "brackets", "lines", "loop", "outside", "overwritten", "repeated", "extra", "kept", "missing",
]  # fmt: skip
Role = Literal["value", "added", "called", "default"]


@dataclass(frozen=True)
class Edit:
    """One piece of a program, and what might stand there instead; ``start`` and ``end`` count bytes.

    It is ``telling`` where it uses what nothing in the program does, and more so in place of a mere copy.
    ``name`` is a variable, or an attribute such as "self.norm", that comes in with it: as a value, added to
    one, or called with one; or an argument that gets another default. ``instead`` is the name that stands in
    its place now, or that it is put to.
    """

    file: str
    kind: Kind
    line: int  # from 1
    column: int  # from 1
    start: int
    end: int
    old: str
    new: str
    telling: int = 0
    name: str = ""
    role: Role = "value"
    instead: str = ""

    @property
    def frame(self) -> Frame:
        return Frame(self.file, self.line)

    def applied(self, text: str) -> str:
        """The program with the change in it."""
        raw = text.encode()
        return (raw[: self.start] + self.new.encode() + raw[self.end :]).decode()
