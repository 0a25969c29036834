"""The student's own training loop, as far as the code alone tells."""

from __future__ import annotations

from itertools import islice

from ....submissions.reading.training import keeps_gradients, left_in_eval, trains
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from . import holds


@holds(order=165, of_code=True)
def training(examination: Examination) -> None:
    """The training loop clears the gradients, and trains in train mode.

    Else: The training loop leaves something out
    """
    files = examination.source.files
    if not trains(files):
        raise NotAsked("no loop here trains a model")
    for line in islice(left_in_eval(files), 1):
        text = f"line {line.line} puts the model into eval mode, and nothing in the loop puts it back"
        raise CheckFailed(
            f"{text}: from the second round on it is trained without dropout",
            ("train-mode-not-restored",),
            frame=line,
        )
    for line in islice(keeps_gradients(files), 1):
        text = f"line {line.line} adds to the gradients of the steps before, which nothing clears"
        raise CheckFailed(text, ("gradients-not-cleared",), frame=line)
