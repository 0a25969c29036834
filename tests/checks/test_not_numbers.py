"""NaN and infinity in the scores are named where they arise, and as nothing else."""

from __future__ import annotations

import pytest
import torch
from examining import examine

from vitcheck.checks.examining.verdicts import CheckFailed, NotReached
from vitcheck.checks.locating.search.returned_scores import Output
from vitcheck.checks.rules.kinds.equation import check_equation
from vitcheck.checks.rules.properties.images_in_batches import batch_sizes
from vitcheck.checks.rules.properties.state import repeatable

_SOFTMAX = "attn_probs = attn_scores.softmax(dim=-1)"
_LOGITS = "logits = self.head(cls_rep)"


@pytest.mark.parametrize(
    ("edit", "before", "stage", "says"),
    [
        (
            (
                _SOFTMAX,
                _SOFTMAX.replace("attn_scores", "attn_scores.masked_fill(attn_scores < 99, -torch.inf)"),
            ),
            "attention_scores",
            "attention_probabilities",
            "softmax in report.py, line 65, makes it from a row in which every value is -inf",
        ),
        ((_LOGITS, f"{_LOGITS}.log()"), "class_representation", "logits", "NaN appears here first: log "),
        ((_LOGITS, f"{_LOGITS} / 0"), "class_representation", "logits", "Infinity appears here first: div "),
    ],
)
def test_what_is_no_number_is_named_where_it_arises(
    edit: tuple[str, str], before: str, stage: str, says: str
) -> None:
    examination = examine("report", edit)
    check_equation(examination, before)
    with pytest.raises(CheckFailed, match=says) as failed:
        check_equation(examination, stage)
    assert failed.value.mistakes == ()
    assert not [one for one in examination.findings() if examination.counts(one.id)]
    for holds in (repeatable, batch_sizes):
        with pytest.raises(NotReached, match="NaN or infinite"):
            holds(examination)


def test_what_is_infinite_behind_a_mask_is_as_it_should_be() -> None:
    masked = "attn_scores.masked_fill(attn_scores > 99, -torch.inf)"
    examination = examine("report", (_SOFTMAX, _SOFTMAX.replace("attn_scores", masked)))
    check_equation(examination, "logits")


def test_no_number_is_equal_to_no_number() -> None:
    nothing = torch.full((2, 3), torch.nan)
    output = Output("logits", nothing, "float64")
    assert not output.is_one_of([nothing])
    assert not output.follows_from(nothing)
    assert not output.follows_from(torch.rand(2, 3))
