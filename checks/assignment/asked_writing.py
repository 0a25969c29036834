"""The table of an assignment file that asks for a written part. Imports no torch."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .asked_table import AskedTable


class WrittenQuestion(AskedTable):
    """A question that is answered in writing, and what a person looks for in the answer."""

    text: Annotated[str, Field(min_length=1)]
    rubric: str = ""
    stages: tuple[str, ...] = ()  # such as S06: where the code shows the answer
    points: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0


class WrittenPart(AskedTable):
    """What is looked for in the report: the stages with their shapes, and the answers, by their ids."""

    questions: dict[Annotated[str, Field(pattern=r"^[A-Za-z][\w-]*$")], WrittenQuestion] = {}

    @property
    def possible(self) -> float:
        """The points that a person may give."""
        return sum(one.points for one in self.questions.values())
