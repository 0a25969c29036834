"""Whether the stages that are blamed are the cause of all that is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...submissions.errors import StudentCodeFailed, SubmissionError
from ..examining.examination import Examination
from ..examining.passes.example import Example
from ..examining.passes.replay import Seen
from ..locating.comparing import ROUNDING
from .cured_pass import CuredPasses, NoPlace

_EXAMPLES = 2  # of different sizes: one may hide what another one shows


@dataclass(frozen=True)
class Shown:
    """Keys of the fewest stages that make all numbers right, in order, and of those that follow from them.

    ``still`` is the first that is wrong all the same.
    """

    cured: tuple[str, ...]
    follows: tuple[str, ...] = ()
    still: str | None = None


def prove(examination: Examination) -> Shown | None:
    """What shows on all examples that are tried; None where no right numbers can be put in.

    What the child says of it is a hint: no mark hangs on it.
    """
    steps = (one.step for example in examination.examples for one in example.seen)
    is_wrong = any(map(examination.is_amiss, steps))  # of parts alone there is no example
    if not is_wrong or examination.session.is_script or examination.crash is not None:
        return None
    try:
        found = [_Proving(examination, one).shown() for one in examination.examples[:_EXAMPLES]]
    except (NoPlace, SubmissionError, StudentCodeFailed, RuntimeError, ValueError, LookupError):
        return None  # the last three where another pass is told of than ran
    refuted = (one for one in found if one is not None and one.still)
    return next(refuted, found[0]) if found else None


class _Proving:
    """On one example."""

    def __init__(self, examination: Examination, example: Example) -> None:
        self._examination = examination
        wrong = [one for one in example.seen if one.differs(ROUNDING) and self._is_blamed(one)]
        self._blamed = list(dict.fromkeys(one.step.key for one in wrong))
        self._passes = CuredPasses(examination.session, example, frozenset(self._blamed))

    def _is_blamed(self, one: Seen) -> bool:
        """A mistake may show at stages beside the one that is named."""
        return not one.step.findings or self._examination.is_amiss(one.step)

    def shown(self) -> Shown | None:
        """Stages are made right one by one, in the order in which they are found wrong."""
        cured: list[str] = []
        wrong = next(iter(self._blamed), None)
        while wrong is not None:
            if wrong in cured or wrong not in self._blamed:
                return Shown(tuple(cured), still=wrong)
            cured.append(wrong)
            wrong = self._wrong_with(cured)
        if not cured:
            return None
        needed = self._fewest(cured)
        return Shown(tuple(needed), tuple(one for one in self._blamed if one not in needed))

    def _fewest(self, cured: list[str]) -> list[str]:
        for one in cured if len(cured) > 1 else ():
            fewer = [other for other in cured if other != one]
            if self._wrong_with(fewer) is None:
                return self._fewest(fewer)
        return cured

    def _wrong_with(self, cured: Sequence[str]) -> str | None:
        wrong = self._passes.first_wrong(frozenset(cured))
        return None if wrong is None else wrong.step.key
