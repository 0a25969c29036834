"""One hostile submission: a base with a few lines in it, and what it must get."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from corpus import BASES

from vitcheck.submissions.limits import Limits

# so that no busy machine decides; what never ends has limits of its own
LIMITS = Limits(import_seconds=60, request_seconds=60, submission_seconds=600)

_LINES = {  # the line of the base that each place stands behind, and how deep it is indented
    "top": ("from torch import nn\n", 0),
    "body": ("class ViT(nn.Module):\n", 1),
    "init": (
        "        height, width = img_size if isinstance(img_size, tuple) else (img_size, img_size)\n",
        2,
    ),
    "forward": ("        B = img.size(0)\n", 2),
    "answer": ("        # BREAKPOINT S26 - class probabilities\n", 2),
}
_MISTAKE = ("math.sqrt(self.head_dim)", "math.sqrt(self.dim)")


PARTS = 66.0  # what patches and blocks of the bases earn by themselves, where the whole does not run


@dataclass(frozen=True)
class Expected:
    """What an attack must get; ``failed`` are stages that must not pass, ``most`` the points at most."""

    status: str = "graded"
    reason: str = ""  # a part of the sentence, where the status is another
    failed: frozenset[str] = frozenset()
    checks: tuple[tuple[str, str], ...] = ()  # ids that must not pass, each with a part of its message
    note: str = ""  # a part of what is noted of its files
    least: float = 0.0
    most: float = 0.0


@dataclass(frozen=True)
class Attack:
    """Student code at places of a program: ``top`` level, class ``body``, constructor, forward pass, answer.

    ``wrong`` divides the scores by the root of the wrong size, so that S12 must fail whatever else is done.
    """

    name: str
    expected: Expected
    top: str = ""
    body: str = ""
    init: str = ""
    forward: str = ""
    answer: str = ""
    edits: tuple[tuple[str, str], ...] = ()
    base: str = "report"
    wrong: bool = False
    limits: Limits = LIMITS

    def source(self) -> str:
        """The whole program."""
        text = BASES[self.base].source()
        for old, new in (*self.edits, *([_MISTAKE] if self.wrong else ())):
            assert text.count(old) == 1
            text = text.replace(old, new)
        for place, (line, depth) in _LINES.items():
            text = text.replace(line, line + indent(f"{getattr(self, place)}\n", "    " * depth))
        return text
