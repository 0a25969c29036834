"""Replies of a submission's process, read by the form that its question gives the answer, or Refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError

from ..errors import Refused
from ..limits import FrameLimits
from ..questions.question import A, Question, answer_type

_CONFIG = ConfigDict(
    extra="forbid",
    allow_inf_nan=False,
    str_max_length=FrameLimits.text_characters,
    arbitrary_types_allowed=True,  # such as tensors
)
_CHARACTERS = 200  # of what is wrong: the child names some of it


def answer_in(question: Question[A], reply: object) -> A:
    """The answer that ``reply`` is. Raises Refused where it has another form than that of the question's."""
    with contradictions_refused():
        answer: A = form(answer_type(question)).validate_python((reply,))[0]
        question.demand(answer)
        return answer


@contextmanager
def contradictions_refused() -> Iterator[None]:
    """Where a reply is read: one that contradicts itself is Refused."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        told = _first(error) if isinstance(error, ValidationError) else str(error)
        raise Refused(
            f"the reply of the submission's process makes no sense ({told[:_CHARACTERS]})"
        ) from None


@cache
def form(kind: Any) -> TypeAdapter[tuple[Any]]:
    """What validates data of that type, alone in a tuple, since a dataclass takes no configuration."""
    return TypeAdapter(tuple[kind], config=_CONFIG)


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, and where it stands in the answer."""
    one = error.errors(include_url=False, include_input=False)[0]
    return ": ".join(filter(None, (".".join(map(str, one["loc"][1:])), one["msg"])))
