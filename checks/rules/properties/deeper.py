"""What the same code computes at other sizes, where it does not run the operations that it ran before."""

from __future__ import annotations

from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed, NotApplicable
from ...locating.wiring.incomplete import NOT_FOLLOWED


def demand_the_same(examination: Examination, example: Example, where: str) -> None:
    """Raises CheckFailed for what is wrong in this example, and in none of those that all checks share.

    Raises NotApplicable where it cannot be followed here, as what is computed piece by piece.
    """
    draw, walk = example.draw, example.walk
    if (error := example.trace.error) is not None:
        raise CheckFailed(f"{where} the model fails: {error}", (), draw, error.frame)
    known = {one.id for one in examination.findings()}
    for step in walk.steps:
        ids = {one.id for one in step.findings if examination.counts(one.id)} - known
        if ids or (not step.explained and not examination.is_wrong(step.key)):
            stage = _stage(examination, step.key, step.block)
            if step.message == NOT_FOLLOWED:
                raise NotApplicable(f"{where} it could not be followed how {stage} is computed")
            text = f"{where} {stage} is computed in another way than at all other sizes"
            raise CheckFailed(text, tuple(sorted(ids)), draw)
    if walk.unexplained is not None and examination.walk.unexplained is None:
        stage = _stage(examination, *walk.unexplained)
        text = f"{where} {stage} matches no known equation, although it is right at other sizes"
        raise CheckFailed(text, (), draw)


def _stage(examination: Examination, key: str, block: int) -> str:
    return f"{examination.family.stage(key).label}{f' of block {block}' if block else ''}"
