"""The exercises that an assignment asks for: the functions found, called, and judged by value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

from ...reference.exercises import EXERCISES
from ...submissions.errors import Frame, NotLoaded, StudentCodeFailed
from ...submissions.host.asking import Function, call, functions
from ...submissions.questions.part_questions import FunctionOutputs
from ..architecture.catalogue import mistakes
from ..assignment.assignment import Assignment
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
from ..examining.verdicts import CheckFailed
from ..record.sentences import as_sentence
from ..rules.declaring import Check
from .matching import answer_of, told
from .models import model_trials
from .trials import Trial, trials


@dataclass(frozen=True)
class Verdict:
    """What one exercise came to: all is right without a message; ``seen`` are ids of what was recognised."""

    message: str = ""
    seen: tuple[str, ...] = ()
    frame: Frame | None = None
    ran: bool = False

    @property
    def rank(self) -> int:
        """How much it tells: that all is right, what is wrong, that something is, that it fails."""
        return 0 if not self.message else 1 if self.seen else 2 if self.ran else 3


class Exercises:
    """Every method may raise the SubmissionError that ended the submission's process."""

    def __init__(self, examination: Examination) -> None:
        self._examination = examination
        self.source, self.assignment = examination.source, examination.assignment
        self.judged: dict[str, Verdict] = {}

    def verdict(self, key: str) -> Verdict:
        """That of the first function that is right, else of the likeliest."""
        if key not in self.judged:
            self.judged[key] = self._verdict(key)
        return self.judged[key]

    def check(self, key: str) -> None:
        """Raises CheckFailed where the function is missing or wrong."""
        verdict = self.verdict(key)
        if verdict.message:
            where = f" ({verdict.frame.file}, line {verdict.frame.line})" if verdict.frame else ""
            wrong = [one for one in verdict.seen if self.counts(one)]
            told = as_sentence(verdict.message.rstrip(".") + where)
            raise CheckFailed(f"{_titles(wrong)}{told}", wrong)

    def counts(self, id: str) -> bool:
        """Does this finding cost marks here?"""
        return not self.assignment.allows(id)[0]

    def _verdict(self, key: str) -> Verdict:
        part = self.assignment.exercises[key]
        try:
            found = functions(self._examination.session, key, part.name)
        except NotLoaded as error:
            return Verdict(error.reason)
        if not found:
            return Verdict(_missing(key))
        verdicts = [self._judge(one, part.fusion) for one in found]
        return next((one for one in verdicts if not one.message), verdicts[0])

    def _judge(self, function: Function, fusion: str | None) -> Verdict:
        """Every demand must be met, in one of the forms of input that it may have."""
        demands: Iterable[Iterable[Trial]]
        if function.key == "get_attention":
            demands = [model_trials(self._examination, fusion)]
        else:
            demands = trials(function.key, self._examination.seed, fusion)
        verdicts = [one for forms in demands if (one := self._best(function, forms)) is not None]
        return min(verdicts, key=lambda one: not one.message)

    def _best(self, function: Function, forms: Iterable[Trial]) -> Verdict | None:
        """The verdict that tells most; None where none of the calls means anything for this function."""
        best: Verdict | None = None
        for trial in forms:
            one = self._tried(function, trial)
            if one is not None and (best is None or one.rank < best.rank):
                best = one
            if best is not None and not best.message:
                break
        return best

    def _tried(self, function: Function, trial: Trial) -> Verdict | None:
        """None where the call means nothing for this function."""
        try:
            returned = call(self._examination.session, function, trial.given, self._examination.seed)
        except NotLoaded as error:
            return Verdict(error.reason, (), error.frame)
        except StudentCodeFailed as error:
            frame = next(iter(error.frames), function.frame)
            return Verdict(f"It raises an exception when it is called: {error}", (), frame)
        if trial.only_if is not None and trial.only_if not in returned.roles:
            return None
        return self._compared(function, trial, returned)

    def _compared(self, function: Function, trial: Trial, returned: FunctionOutputs) -> Verdict:
        answer = answer_of(trial, returned)
        ids = answer[0] if answer is not None else ()
        if answer is not None and not any(self.counts(one) for one in ids):
            return Verdict("", ids, function.frame, ran=True)
        return Verdict(told(trial, returned), ids, function.frame, ran=True)


@asked_once
def exercises_of(examination: Examination) -> Exercises:
    """The exercises of this submission."""
    return Exercises(examination)


def exercise_checks(asked: Assignment) -> Iterator[Check]:
    """One check for each exercise that is asked for."""
    for key in asked.exercises:
        title = EXERCISES[key].title
        yield Check(f"exercise[{key}]", None, title, partial(_check, key=key), f"{title}: wrong or missing")


def _check(examination: Examination, key: str) -> None:
    exercises_of(examination).check(key)


def _missing(key: str) -> str:
    row = EXERCISES[key]
    return (
        f"No function for this was found by its name: {row.title.lower()}. It takes {row.takes}, and returns"
        f" {row.gives}. If you wrote it, its name can be given in the assignment file."
    )


def _titles(ids: list[str]) -> str:
    return "".join(f"{as_sentence(mistakes()[one].title)} " for one in ids)
