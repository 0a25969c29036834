"""Questions that take a pass or more of the submission: each is asked when it is needed, and only once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Asker = TypeVar("Asker")
Answer = TypeVar("Answer")


def asked_once(question: Callable[[Asker], Answer]) -> Callable[[Asker], Answer]:
    """A method whose first answer is kept with its object. What it raises is not: it is asked again."""

    @wraps(question)
    def ask(asker: Asker) -> Answer:
        answers: dict[Callable[..., Any], Any] = vars(asker).setdefault("answers", {})
        if question not in answers:
            answers[question] = question(asker)
        answer: Answer = answers[question]
        return answer

    return ask
