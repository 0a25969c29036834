"""Parent side: questions about single components of a submission, and about its functions."""

from __future__ import annotations

from dataclasses import dataclass

from ..questions.part_questions import (
    CallFunction,
    FindComponents,
    FindFunctions,
    Fitting,
    FoundDefinition,
    FunctionOutputs,
    Given,
)
from .session import Session, not_executed


@dataclass(frozen=True, kw_only=True)
class Function(FoundDefinition):
    """A function that may be an exercise."""

    key: str
    number: int


@dataclass(frozen=True, kw_only=True)
class Candidate(Fitting):
    """A class or function that may be a component."""

    key: str
    number: int


def candidates(session: Session, key: str, name: str | None) -> list[Candidate]:
    """What may be the component ``key``, the likeliest first; nothing but ``name`` where it is pinned.

    Raises NotLoaded where the pinned name is not defined.
    """
    with not_executed():
        found = session.ask(FindComponents(key=key, pin=name))
    return [Candidate(**vars(one), key=key, number=number) for number, one in enumerate(found)]


def functions(session: Session, key: str, name: str | None) -> list[Function]:
    """What may be the exercise ``key``, the likeliest first; nothing but ``name`` where it is pinned.

    Raises NotLoaded where the pinned name is not defined.
    """
    with not_executed():
        found = session.ask(FindFunctions(key=key, pin=name))
    return [Function(**vars(one), key=key, number=number) for number, one in enumerate(found)]


class ComponentSession(Session):
    """Asks of one candidate what Session asks of the model."""

    def __init__(self, session: Session, candidate: Candidate) -> None:
        super().__init__(session.child, {"component": (candidate.key, candidate.number)})


class SampleSession(Session):
    """Asks of a small ViT of ours, next to the submission, what Session asks of the model."""

    def __init__(self, session: Session, sample: str) -> None:
        super().__init__(session.child, {"sample": sample})


def call(session: Session, function: Function, given: Given, seed: int) -> FunctionOutputs:
    """What the function gives back; ``given`` has the choices for each role, in the order of arguments.

    Raises StudentCodeFailed for what it raises, NotLoaded where an argument plays no known role.
    """
    return session.ask(CallFunction(key=function.key, number=function.number, seed=seed, given=given))
