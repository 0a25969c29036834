"""The components that an assignment asks for: which class or function each is, and its faults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from ...reference.components import COMPONENTS
from ...submissions.errors import NotLoaded, OutOfMemory, Refused, StudentCodeFailed
from ...submissions.host.asking import Candidate, candidates
from ..architecture.catalogue import mistakes
from ..assignment.asked_parts import ASPECTS
from ..assignment.assignment import Assignment
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
from ..examining.verdicts import CheckFailed, NotAsked
from ..record.sentences import as_sentence
from ..rules.declaring import Check
from .component import ComponentExamination
from .part_judging import Fault, faults

_OTHERS = 2  # candidates that are judged though they do not fit


@dataclass(frozen=True)
class Part:
    """A component as it was found and judged; ``component`` is None where there is none that can be built."""

    key: str
    component: ComponentExamination | None
    faults: tuple[Fault, ...]

    @property
    def unknown(self) -> int:
        """How many of its stages are not there, or are computed in no known way."""
        one = self.component
        if one is None or one.crash is not None:
            return len(COMPONENTS[self.key].stages)
        return len({*one.missing, *(key for key, _ in one.unexplained)})

    @property
    def is_function(self) -> bool:
        return self.component is not None and self.component.candidate.function


class Parts:
    """Every method may raise the SubmissionError that ended the submission's process."""

    def __init__(self, examination: Examination) -> None:
        self._examination = examination
        self._judged: dict[str, Part] = {}

    @property
    def judged(self) -> list[Part]:
        """Those judged so far, in order."""
        return list(self._judged.values())

    @property
    def components(self) -> list[ComponentExamination]:
        """Those that could be looked into."""
        return [one.component for one in self.judged if one.component is not None]

    def part(self, key: str) -> Part:
        """The component, as the first of its candidates that is right, else the likeliest."""
        if key not in self._judged:
            self._judged[key] = self._part(key)
        return self._judged[key]

    def check(self, key: str, aspect: str) -> None:
        """Raises CheckFailed where the component is missing or wrong in this aspect.

        Raises NotApplicable where it is right and the aspect says nothing of it.
        """
        part = self.part(key)
        faults = [one for one in part.faults if one.aspect in (aspect, None)]
        if not faults:
            if aspect == "parameters" and part.is_function:
                raise NotAsked("a function has no parameters of its own")
            return
        first = faults[0]
        where = f" ({first.frame.file}, line {first.frame.line})" if first.frame else ""
        ids = list(dict.fromkeys(id for fault in faults for id in fault.mistakes))
        title = f"{as_sentence(mistakes()[ids[0]].title)} " if ids else ""
        raise CheckFailed(f"{title}{as_sentence(first.message.rstrip('.') + where)}", ids)

    def _part(self, key: str) -> Part:
        try:
            found = candidates(self._examination.session, key, self._pinned(key))
        except (NotLoaded, OutOfMemory) as error:
            return Part(key, None, (Fault(error.reason),))
        if not found:
            return Part(key, None, (Fault(_missing(key)),))
        judged = [self._judge(one) for one in found if one.error is None and one.fits]
        # what is not written yet has no faults, and shows less than what is
        right = max((one for one in judged if not one.faults), key=_shown, default=None)
        known = [right or min(judged, key=lambda one: one.unknown)] if judged else []
        if any(_shown(one) for one in known):
            return known[0]
        # what returns something else, or nothing yet
        others = [self._judge(one) for one in found[:_OTHERS] if not one.fits]
        return max([*known, *others], key=_shown)

    def _pinned(self, key: str) -> str | None:
        return self._examination.assignment.components[key].name

    def _judge(self, candidate: Candidate) -> Part:
        if candidate.error is not None:
            message = f"{candidate.name} could not be built: {candidate.error}"
            return Part(candidate.key, None, (Fault(message, frame=candidate.frame),))
        component = ComponentExamination(self._examination, candidate)
        try:
            component.trace_examples()
            component.locate_examples()
            if component.is_of_lines and _is_one_tensor(component):  # of its shape, and something else
                return Part(candidate.key, None, (Fault(_missing(candidate.key)),))
            return Part(candidate.key, component, tuple(faults(component)))
        except StudentCodeFailed as error:  # at other sizes than it was tried at
            frame = next(iter(error.frames), candidate.frame)
            return Part(candidate.key, None, (Fault(f"it could not be built: {error}", frame=frame),))
        except (OutOfMemory, Refused) as error:
            return Part(candidate.key, None, (Fault(error.reason, frame=candidate.frame),))


@asked_once
def parts_of(examination: Examination) -> Parts:
    """The components of this submission."""
    return Parts(examination)


def component_checks(asked: Assignment) -> Iterator[Check]:
    """One check for each aspect of each component that is asked for."""
    for key, aspect in product(asked.components, ASPECTS.values()):
        name = COMPONENTS[key].title
        run = partial(_check, key=key, aspect=aspect.key)
        id, title = f"component[{key}.{aspect.key}]", f"{name} {aspect.title}"
        yield Check(id, None, title, run, f"{name} {aspect.failing}")


def _check(examination: Examination, key: str, aspect: str) -> None:
    parts_of(examination).check(key, aspect)


def _shown(part: Part) -> int:
    return 0 if part.component is None else len(part.component.walk.steps)


def _is_one_tensor(component: ComponentExamination) -> bool:
    """Is all that was found of its several stages one and the same?"""
    found = [one.found.record for one in component.walk.steps if one.found is not None]
    return len({*found}) == 1 < len(found)


def _missing(key: str) -> str:
    row = COMPONENTS[key]
    return (
        f"no class or function was found that takes {row.input}, returns {row.output} and has a name like"
        f" {row.title.lower()}: if you wrote it, its name can be given in the assignment file"
    )
