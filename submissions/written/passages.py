"""What every kind of report is read as: its passages, one after the other, and the question for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Annotated

from annotated_types import MaxLen

from ..questions.question import Question

if TYPE_CHECKING:
    from torch import Tensor

PASSAGES = 10_000  # of one report, which has some hundreds
CHARACTERS = 400_000  # of them all, where a report has about 20,000


class PassageKind(str, Enum):
    """What a passage is; a row of a table holds its cells with " | " between them."""

    HEADING = "heading"
    TEXT = "text"
    ROW = "row"
    CODE = "code"
    PICTURE = "picture"  # its text is what stands in its place


@dataclass(frozen=True)
class Passage:
    """A paragraph, or what takes the place of one."""

    kind: PassageKind
    text: Annotated[str, MaxLen(CHARACTERS)]
    level: int = 0  # of a heading, 1 for the highest
    page: int = 0  # counted from 1; 0 where there are no pages


@dataclass(frozen=True, kw_only=True)
class ReadDocument(Question[Annotated[tuple[Passage, ...], MaxLen(PASSAGES)]]):
    """The passages of a report whose name ends with ``suffix``."""

    name = "read"

    suffix: str
    content: Tensor


def row(cells: list[str]) -> Passage:
    """A row of a table."""
    return Passage(PassageKind.ROW, " | ".join(" ".join(one.split()) for one in cells))
