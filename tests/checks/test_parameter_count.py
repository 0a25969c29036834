"""The number of parameters at the assignment's size."""

from __future__ import annotations

import pytest
from examining import BRIEF, examine

from vitcheck.checks.assignment.assignment import load_assignment
from vitcheck.checks.examining.verdicts import CheckFailed, NotApplicable
from vitcheck.checks.rules.kinds.parameters import check_parameter_count, expected_count
from vitcheck.reference.sizes import preset
from vitcheck.reference.vit import PRE_NORM

PAPER = load_assignment("vit-prenorm").model_copy(update={"examples": 2})


def test_the_papers_model_has_as_many_as_published() -> None:
    assert expected_count(preset("B/16"), PRE_NORM) == 86_567_656


def test_a_correct_model_has_as_many() -> None:
    check_parameter_count(examine("prenorm", assignment=PAPER))


def test_a_layer_too_many_is_counted() -> None:
    spare = ("self.head = nn.Linear", "self.spare = nn.Linear(10, 10)\n        self.head = nn.Linear")
    with pytest.raises(CheckFailed, match="expected 86,567,656 parameters, got 86,567,766: 110 more than"):
        check_parameter_count(examine("prenorm", spare, assignment=PAPER))


def test_an_accepted_variant_may_change_the_number() -> None:
    bare = ("qkv_bias=True", "qkv_bias=False")
    with pytest.raises(NotApplicable, match="qkv-bias-missing"):
        check_parameter_count(examine("prenorm", bare, assignment=PAPER))


def test_an_assignment_that_does_not_count_passes_it_over() -> None:
    with pytest.raises(NotApplicable, match="does not count"):
        check_parameter_count(examine("report", assignment=BRIEF))
