"""A class as an instructor meets it: most of it right, a quarter wrong, and some that would do harm."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from corpus import BASES
from mutants import MUTANTS, REFACTORINGS, source

from vitcheck.checks.record.result import Result, StageStatus, Status
from vitcheck.checks.tools.selftest.corpus_counts import every

RIGHT, WRONG, HOSTILE = "right", "wrong", "hostile"
_SHARES = {WRONG: 0.25, HOSTILE: 0.05}  # the others are right
_CLASS = "class PatchEmbed(nn.Module):\n"
_HARM = (
    "    while True:\n        pass\n",
    "    import sys\n\n    sys.exit(0)\n",
    "    hoard = []\n    while True:\n        hoard.append(b'x' * (1 << 26))\n",
    "    import ctypes\n\n    ctypes.string_at(0)\n",
)


@dataclass(frozen=True)
class Member:
    """One submission of the class, a file."""

    kind: str
    text: str

    def as_expected(self, result: Result) -> bool:
        """Is this the verdict that its kind gets? What does harm may have right parts."""
        blamed = bool(result.mistakes) or any(
            one.status is StageStatus.FAILED for one in result.stages.values()
        )
        if self.kind == HOSTILE:
            return result.status is not Status.GRADED and result.score.earned < result.score.possible
        return result.status is Status.GRADED and blamed == (self.kind == WRONG)


def mixed_class(count: int) -> dict[str, Member]:
    """``count`` submissions by name, no two alike, the kinds well mixed."""
    shares = {kind: round(share * count) for kind, share in _SHARES.items()}
    texts = {RIGHT: _right(), WRONG: _wrong(shares[WRONG]), HOSTILE: [planted_in_class(one) for one in _HARM]}
    counts = {RIGHT: count - sum(shares.values()), **shares}
    members = [Member(kind, text) for kind in counts for text in islice(cycle(texts[kind]), counts[kind])]
    random.Random(1).shuffle(members)
    return {
        f"student-{number:04}": Member(one.kind, f"{one.text}\n# submission {number}\n")
        for number, one in enumerate(members)
    }


def write(members: Mapping[str, Member], folder: Path) -> None:
    """Hand in: each is a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, one in members.items():
        (folder / f"{name}.py").write_text(one.text, "utf-8")


def _right() -> list[str]:
    """Every style of the architectures that the default assignment asks for, then rewrites of them."""
    asked = [name for name, base in BASES.items() if base.family != "clip"]
    rewritten = [source(one) for one in REFACTORINGS if one.base in asked]
    return [*(BASES[name].source() for name in asked), *rewritten]


def _wrong(count: int) -> list[str]:
    """One mistake each, of those that break a stage's equation."""
    planted = [
        one
        for one in MUTANTS
        if one.stage and one.kind == "error" and not one.invisible and BASES[one.base].family != "clip"
    ]
    return [source(one) for one in every(planted, count)]


def planted_in_class(code: str) -> str:
    """A correct model with ``code``, indented, in the body of a class that has to be run to load it."""
    text = BASES["prenorm"].source()
    assert _CLASS in text
    return text.replace(_CLASS, _CLASS + code)
