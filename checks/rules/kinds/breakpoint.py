"""The rule that every stage has a breakpoint mark where a local variable really holds that stage."""

from __future__ import annotations

from collections.abc import Sequence

from ....submissions.errors import Frame
from ....submissions.host.trace import Trace, VisibleLocal
from ....submissions.reading.code import marks
from ...assignment.kinds import Kind
from ...examining.asked_once import asked_once
from ...examining.examination import Examination
from ...examining.passes.replay import Seen
from ...examining.placing import frames_of
from ...examining.stops import beside, same_in_some_layout
from ...examining.verdicts import CheckFailed, Missing, NotApplicable, NotAsked, NotReached
from ..declaring import each_stage


@each_stage(
    Kind(
        id="breakpoint",
        group="breakpoints",
        pays_for="a breakpoint comment at every stage",
        order=50,
        part="style",
        severity="minor",
    ),
    lambda family: family.stages,
)
def check_breakpoint(examination: Examination, key: str) -> None:
    """Has a `# BREAKPOINT` comment where the tensor is in a local variable.

    Else: breakpoint comment at the wrong line
    """
    if not examination.assignment.rules.breakpoints:
        raise NotAsked("this assignment does not ask for breakpoint comments")
    _breakpoints(examination).check(examination.family.stage(key).label)


@asked_once
def _breakpoints(examination: Examination) -> Breakpoints:
    return Breakpoints(examination)


class Breakpoints:
    """The marks of a submission and what could be seen at them in one pass."""

    def __init__(self, examination: Examination) -> None:
        self._examination = examination
        self.marks = marks(examination.source.files)

    @property
    def trace(self) -> Trace:
        """One pass of the first example, looked at where the marks stand."""
        return self._examination.watched()

    def check(self, label: str) -> None:
        """Some mark with this label stands where a local variable holds the stage.

        Where none ever does, as inside of a library's attention, it stands at the line that computes it.
        The assignment's label sets decide which stages the label may mean.
        """
        keys = self._meanings(label)
        mine = [number for number, mark in enumerate(self.marks) if mark.label == label]
        tensors = [one for key in keys for one in self._examination.examples[0].all(key)]
        if keys == [self._examination.family.input_key]:
            return self._check_image(mine)
        if self._examination.absent.issuperset(keys):
            raise NotAsked("this architecture does not have this stage")
        if not tensors:
            raise NotReached("the stage was not found in the forward pass")
        for false in self._examination.false_claims():
            if false.claim.label == label:
                raise CheckFailed(false.message)
        seen = [one for one in self.trace.sights if one.mark in mine]
        if self._any_holds(seen, tensors):
            return None
        if not self._any_holds(self.trace.sights, tensors):
            if self._stands_where_made(mine, tensors):
                return None
            raise NotApplicable(
                "your code never stores this stage in a variable, and there"
                " is no comment where it is computed"
            )
        if not mine:
            raise Missing(_missing(label))
        raise CheckFailed(self._misplaced(label, mine, sorted({one.name for one in seen})))

    def _any_holds(self, sights: Sequence[VisibleLocal], tensors: Sequence[Seen]) -> bool:
        variables = [self.trace.tensor(one) for one in dict.fromkeys(one.reference for one in sights)]
        return any(same_in_some_layout(one, seen.student) for one in variables for seen in tensors)

    def _stands_where_made(self, mine: Sequence[int], tensors: Sequence[Seen]) -> bool:
        """Does a mark stand at a line that computes the stage, such as the call of a library's attention?"""
        lines = beside(self._examination.source.files, [self.marks[number] for number in mine])
        made = {frame for one in tensors for frame in frames_of(self._examination, one.step)[:1]}
        return any(
            Frame(self.marks[number].file, line) in made for number, near in zip(mine, lines) for line in near
        )

    def _check_image(self, mine: Sequence[int]) -> None:
        """The image is made outside of a model, in code that grading does not run, but inside of a script."""
        if not mine:
            raise Missing(_missing("S01"))
        image = self.trace.tensor(self.trace.records[0].reference)
        seen = [one for one in self.trace.sights if one.mark in mine]
        if self._examination.session.is_script and not any(
            same_in_some_layout(self.trace.tensor(one.reference), image) for one in seen
        ):
            raise CheckFailed(self._misplaced("S01", mine, sorted({one.name for one in seen})))

    def _meanings(self, label: str) -> list[str]:
        return self._examination.family.keys_of(self._examination.assignment.labels, label)

    def _misplaced(self, label: str, mine: Sequence[int], names: Sequence[str]) -> str:
        where = ", ".join(f"{self.marks[number].file}:{self.marks[number].line}" for number in mine)
        title = self._examination.family.stage(self._meanings(label)[0]).title
        if not names:
            return f"the comment `# BREAKPOINT {label}` at {where} is never reached by a forward pass"
        return (
            f"at the comment `# BREAKPOINT {label}` ({where}) no local variable"
            f" holds {label} ({title.lower()});"
            f" the variables there are {', '.join(names)}"
        )


def _missing(label: str) -> str:
    return f"this assignment asks for a comment `# BREAKPOINT {label}` after the line that computes {label}"
