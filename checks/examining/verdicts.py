"""How a check says that the student is wrong, or that it has nothing to say.

CheckFailed     the student is wrong; the message is for the student
Missing         what the assignment asks for beside the code is not there
NotReached      a stage that the check needs was never computed
NotApplicable   the check means nothing for this code (a skipped check, never a pass; see forgiving.py)
NotAsked        nor for any other hand-in of its kind: the assignment does not ask it (skipped, and free)

Any other exception in a check is the grader's own fault and is recorded as such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...submissions.errors import Frame
from .drawing import Draw

NOT_BUILT = "the model could not be built"


class CheckFailed(Exception):
    """``mistakes`` are ids of the catalogue, most specific first.

    ``draw`` is the example that shows it, ``frame`` the line of code that is to blame.
    """

    def __init__(
        self,
        message: str,
        mistakes: Sequence[str] = (),
        draw: Draw | None = None,
        frame: Frame | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.mistakes = tuple(mistakes)
        self.draw = draw
        self.frame = frame


class Missing(Exception):
    """The message says what. It earns nothing, and nothing that is there is called wrong for it."""


class NotReached(Exception):
    """The message says what is missing."""


class NotApplicable(Exception):
    """The message says why."""


class NotAsked(NotApplicable):
    """What the assignment decides, what a script or a function cannot have, or what need not be handed in."""


@dataclass(frozen=True)
class CheckOutcome:
    """One check as it ended."""

    id: str
    stage: str | None  # key
    title: str
    outcome: str  # of result.Outcome
    message: str = ""
    mistakes: tuple[str, ...] = ()
    counterexample: Mapping[str, object] | None = field(default=None)
    frame: Frame | None = None
    failing: str = ""  # its heading where it failed; without one it is told by its title
    asked: bool = True  # does the assignment ask it of this kind of hand-in? Else it is "skipped"
