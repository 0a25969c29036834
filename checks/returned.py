"""Is what was located as the class scores what the model returns? Decoys beside the answer earn nothing."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from .examination import Examination
from .example import Example
from .stops import same_in_some_layout
from .verdicts import CheckFailed


def demand_returned(examination: Examination) -> None:
    """Raises CheckFailed where a model returns neither its logits nor anything known to be made of them.

    Of several tensors with a number for each class, it is the first that counts.
    """
    if examination.session.is_script:
        return
    for example in examination.examples:
        if example.trace.error is None and not _is_returned(example):
            label = examination.family.stage("logits").label
            text = f"What the model returns is not made from the tensor that stands for {label} in its pass."
            raise CheckFailed(text, (), example.draw)


def _is_returned(example: Example) -> bool:
    seen = example.first("logits")
    assert seen is not None  # as the caller has seen
    returned = [example.trace.tensor(where) for _, where in example.trace.outputs]
    scores = [one for one in returned if one.shape == seen.student.shape][:1]
    made = list(example.walk.anatomy.answers(seen.student))
    return any(
        same_in_some_layout(one, other) for other in made for one in scores or _of_class_token(returned)
    )


def _of_class_token(returned: list[Tensor]) -> Iterator[Tensor]:
    """What is returned; where it may be of every token, that of the first."""
    yield from returned
    yield from (one[:, 0] for one in returned if one.dim() == 3 and one.shape[1])
