"""Child side: a request on the wire as the question that it is, and the function that answers it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..questions.question import A, Question
from ..questions.recording import Cure
from ..questions.wire import Header
from ..reading.edits.edit import Edit
from .child import Handler
from .subject import Submission

_ROWS: Mapping[str, Callable[..., Any]] = {"changes": Edit, "cures": Cure}


def answered_by(kind: type[Question[A]], answer: Callable[[Any], A]) -> dict[str, Handler]:
    """The handler of the question's name. What the parent sends is trusted to be one."""

    def handle(header: Header) -> object:
        if "sizes" in header:
            header["sizes"] = sizes_in(header["sizes"])
        if "wanted" in header:
            header["wanted"] = [sizes_in(one) for one in header["wanted"]]
        for name in _ROWS.keys() & header.keys():
            header[name] = [_ROWS[name](**one) for one in header[name]]
        return answer(kind(**header))

    return {kind.name: handle}


def sizes_in(told: Header) -> Any:
    """ModelSizes as they were sent; of parts and scripts, those of a ViT."""
    return type(Submission.small)(**told)
