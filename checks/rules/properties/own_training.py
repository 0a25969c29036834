"""The student's own training loop, as far as the code alone tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from ....submissions.errors import Frame
from ....submissions.reading.training import keeps_gradients, left_in_eval, trains
from ....submissions.reading.training_order import cleared_before_step, optimizer_before_layer
from ....submissions.reading.training_pairs import labels_in_another_order, optimizer_of_another
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed, NotAsked
from . import holds

_SLIPS: tuple[tuple[str, Callable[[Mapping[str, bytes]], Iterable[Frame]], str], ...] = (
    (
        "train-mode-not-restored",
        left_in_eval,
        "puts the model into eval mode, and nothing in the loop puts it back: from the second round on it is"
        " trained without dropout",
    ),
    (
        "gradients-not-cleared",
        keeps_gradients,
        "adds to the gradients of the steps before, which nothing clears",
    ),
    (
        "gradients-cleared-before-step",
        cleared_before_step,
        "clears the gradients right before the step that is to follow them",
    ),
    (
        "optimizer-before-layer",
        optimizer_before_layer,
        "gives the optimizer the parameters of the model before one of its layers is replaced",
    ),
    (
        "optimizer-of-another-model",
        optimizer_of_another,
        "gives the optimizer the parameters of one model, and it is used to train another one",
    ),
    (
        "labels-in-another-order",
        labels_in_another_order,
        "takes rows in the order of the data set, beside others that are taken in a shuffled order",
    ),
)


@holds(order=165, of_code=True)
def training(examination: Examination) -> None:
    """The training code clears gradients, trains every layer in train mode, and gives images their labels.

    Else: The training code leaves something out
    """
    files = examination.source.files
    for id, lines, slip in _SLIPS:
        for line in islice(lines(files), 1):
            raise CheckFailed(f"line {line.line} {slip}", (id,), frame=line)
    if not trains(files):
        raise NotAsked("no loop here trains a model")
