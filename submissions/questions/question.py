"""A question to a submission's process: what is asked, and the form of the answer. Imports no torch.

Both sides know the same class: its fields are what the child is told, and the type in brackets behind its
base is what the child's function returns and what the host has checked before anything looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, TypeVar

from annotated_types import Ge, Le

from ..errors import Frame, Status
from .size_limits import is_large

A = TypeVar("A")

Natural = Annotated[int, Ge(0)]
Share = Annotated[float, Ge(0), Le(1)]

IN_A_PASS = "in the forward pass"
BUILDING = "while its model was built"


@dataclass(frozen=True, kw_only=True)
class Question(Generic[A]):
    """Base of all. Whatever a field holds travels as plain data, and tensors beside it."""

    name: ClassVar[str]
    doing: ClassVar[str | None] = None  # what the code does meanwhile, where the name alone does not tell
    large_bytes: ClassVar[int | None] = None  # of the tensors in the answer, where a pass takes seconds

    @property
    def is_large(self) -> bool:
        """Is it about a pass that takes seconds?"""
        return False

    def demand(self, answer: A) -> None:
        """Raises ValueError where this is no answer to what was asked, though it has the form of one."""


@dataclass(frozen=True, kw_only=True)
class OfSubject(Question[A]):
    """About the submission's model or script, unless it is about something beside that."""

    component: tuple[str, int] | None = None  # the kind of a candidate, and its number
    sample: str | None = None  # a small model of ours, by name
    whole: bool = False  # with as many blocks as the code fixes


@dataclass(frozen=True, kw_only=True)
class OfModel(OfSubject[A]):
    """About one model at its sizes, with what is drawn from a seed."""

    sizes: Any  # ModelSizes, of the class that describes the architecture
    seed: int = 0

    @property
    def is_large(self) -> bool:
        return is_large(self.sizes)


def answer_type(question: Question[A]) -> Any:
    """Return the type in brackets behind the base of its class."""
    (base,) = type(question).__orig_bases__  # type: ignore[attr-defined]  # known to typing alone
    return base.__args__[0]


@dataclass(frozen=True)
class Raised:
    """What comes in place of an answer: a SubmissionError. A student's exception comes as it is."""

    status: Status
    reason: str
    frame: Frame | None
