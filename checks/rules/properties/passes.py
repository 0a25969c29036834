"""What the properties share: passes to compare, and what is said of a variant."""

from __future__ import annotations

from torch import Tensor

from ....submissions.host.trace import Trace, Use, Value
from ....submissions.questions.habits import Habit
from ....submissions.questions.plain_passes import Passes
from ....submissions.reading.code import module_file
from ....submissions.reading.python_text import decode
from ...examining.drawing import Draw
from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed, NotReached
from ...locating.context import Context
from ...locating.search.norms import BatchNorm, Norm
from ...locating.search.origins import origin
from ...locating.search.parameter_search import LinearMap
from ...locating.search.returned_scores import scores_in


def example_of(examination: Examination) -> Example:
    """The first example. Raises NotReached where its pass fails with an exception, or gives no numbers."""
    if examination.crash is not None and not examination.unfinished:
        raise NotReached("the forward pass raises an exception")
    demand_numbers(examination)
    return examination.examples[0]


def demand_numbers(examination: Examination) -> None:
    """Raises NotReached where the scores are NaN or infinite: of those, nothing can be compared."""
    if examination.walk.lost:
        raise NotReached("the logits are NaN or infinite")


def ends_alike(trace: Trace, other: Trace) -> bool:
    """Do both passes come to their end, or end on the same line for want of the rest?"""
    ends = [None if one.error is None else one.error.frame for one in (trace, other)]
    return ends[0] == ends[1]


def passes_of(
    examination: Examination, draw: Draw, images: list[Tensor] | None = None, **options: object
) -> Passes:
    """Plain passes that return something. Raises CheckFailed where they do not."""
    return sound(examination.forward(draw, images or [], **options), draw)


def sound(passes: Passes, draw: Draw) -> Passes:
    """These passes. Raises CheckFailed where they return nothing."""
    if passes.error is not None:
        raise CheckFailed(f"the forward pass fails: {passes.error}")
    if not passes.passes[0].tensors:
        raise CheckFailed("the forward pass returns no tensor", (), draw)
    return passes


def scores_of(examination: Examination, passes: Passes, number: int = 0) -> Tensor:
    """The class scores that a pass returned: the very tensor that is judged as the logits."""
    return scores_in(passes.passes[number], examination.scores_path).tensor


def same(first: tuple[Tensor, ...], second: tuple[Tensor, ...]) -> bool:
    """Are these the same tensors to the last bit?"""
    return len(first) == len(second) and all(
        a.shape == b.shape and bool(((a == b) | (a.isnan() & b.isnan())).all()) for a, b in zip(first, second)
    )


def of_block_1(context: Context, key: str) -> Tensor:
    """A stage of the first block. Raises NotReached where it was not found."""
    if (key, 1) not in context.stages:
        raise NotReached(f"{key.replace('_', ' ')} was not found")
    return context.stage(key, 1)


def leaves_of(example: Example, role: str) -> tuple[Value, ...]:
    """What the weight, token or table in a role is made from; nothing where nobody plays it."""
    player = example.walk.roles.get(role)
    use = player.weight if isinstance(player, (LinearMap, Norm, BatchNorm)) else player
    if not isinstance(use, Use):
        return ()
    return origin(example.trace, example.trace.used(use)).leaves


def code_of(examination: Examination) -> str:
    """All of the submission's Python in one text."""
    return "\n".join(decode(one) for file, one in examination.source.files.items() if module_file(file))


def line_of(habit: Habit) -> str:
    """Where it is done, as people read it."""
    frame = habit.frames[0]
    return f"{frame.file}, line {frame.line}"


def some(names: list[str]) -> str:
    """The first three, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
