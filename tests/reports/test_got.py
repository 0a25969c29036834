"""What was expected and what is there, in one sentence."""

from __future__ import annotations

from samples import stage

from vitcheck.reports.words.got import got


def test_another_shape_is_told_by_its_letters_at_full_size() -> None:
    said = got(stage("S24", shape=[1, 197], message="Its shape is [4, 10]."))
    assert said == "Expected B 1 × D 768, got B 1 × D 197."


def test_what_was_measured_comes_before_numbers() -> None:
    told = stage("S13", message="Rows sum to 2.", values=[[2.0]], expected_values=[[1.0]])
    assert got(told) == "Rows sum to 2."


def test_nothing_is_said_of_what_was_not_measured() -> None:
    assert got(stage("S12")) == ""
