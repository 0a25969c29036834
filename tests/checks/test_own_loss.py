"""A softmax that the model takes, and the loss of the same file takes again."""

from __future__ import annotations

from pathlib import Path

import pytest
from corpus import edited
from one_file import graded_file
from test_unfinished import FINISHED, VIT

from vitcheck.submissions.host.process import Zygote

_RETURNED = "return self.head(self.pooled(self.norm(x)))"
_SOFTMAX = "return self.head(self.pooled(self.norm(x))).softmax(-1)"
_SHOWN = (
    "scores = self.head(self.pooled(self.norm(x)))\n"
    "        return scores if self.training else scores.softmax(-1)"
)
_TRAIN = "\n\ndef train(model, batches):\n    for x, y in batches:\n        {}.backward()\n"
LOSSES = {
    "probabilities given to cross entropy": (
        _SOFTMAX,
        "nn.functional.cross_entropy(model(x), y)",
        ["softmax-in-logits"],
    ),
    "their logarithm": (_SOFTMAX, "nn.functional.cross_entropy(model(x).log(), y)", []),
    "in eval mode alone": (_SHOWN, "nn.functional.cross_entropy(model(x), y)", []),
    "a softmax of logits, given to cross entropy": (
        _RETURNED,
        "nn.functional.cross_entropy(model(x).softmax(-1), y)",
        ["softmax-before-loss"],
    ),
    "logits, given to what takes log-probabilities": (
        _RETURNED,
        "nn.functional.nll_loss(model(x), y)",
        ["log-missing-before-loss"],
    ),
    "log-probabilities, given to what takes them": (
        _SOFTMAX.replace("softmax", "log_softmax"),
        "nn.functional.nll_loss(model(x), y)",
        [],
    ),
    "no loss here": (_SOFTMAX, "model(x).sum()", []),
}


@pytest.mark.parametrize("name", LOSSES)
def test_a_second_softmax_is_told_where_it_is_taken(name: str, zygote: Zygote, tmp_path: Path) -> None:
    """Where nothing here takes it, to return probabilities is right in some courses."""
    returned, loss, told = LOSSES[name]
    program = edited(FINISHED, [(_RETURNED, returned)]) + _TRAIN.format(loss)
    result = graded_file(program, VIT, zygote, tmp_path)
    assert [one.id for one in result.mistakes] == told
    lines = [
        one.text for each in result.mistakes if each.location for one in each.location.excerpt if one.marked
    ]
    assert ["softmax(-1)" in one or "nll_loss" in one for one in lines] == [True] * len(told)
