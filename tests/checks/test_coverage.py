"""Every mistake of the catalogue is told by some check, or it is said why it cannot be."""

from __future__ import annotations

from coverage_table import DOCUMENT, PROPERTY, document, told
from mutants import MUTANTS
from test_own_preprocessing import WRONG

from vitcheck.checks.architecture.catalogue import mistakes
from vitcheck.checks.rules.properties import PROPERTIES


def test_every_mistake_is_told_or_out_of_reach_and_none_is_both() -> None:
    untold = {name for name, known in mistakes().items() if not told(known)}
    assert untold == {name for name, known in mistakes().items() if known.out_of_reach}


def test_every_property_that_is_said_to_tell_a_mistake_is_shown_to() -> None:
    planted = {one.id for one in MUTANTS} | {row[-1] for row in WRONG}
    by_programs_without_mutants = {
        *("eval-not-called", "silent-floor-crop", "pos-grid-not-resampled", "image-rows-columns-exchanged"),
        *("default-size-wrong", "default-sizes-differ", "own-sizes-fail"),
        *("softmax-before-loss", "log-missing-before-loss", "drop-path-on-stream"),
        "dropped-not-rescaled",
        *("train-mode-not-restored", "gradients-not-cleared"),
        *("gradients-cleared-before-step", "optimizer-before-layer"),
        *("optimizer-of-another-model", "labels-in-another-order"),
    }
    by_correct_programs = {"hidden-fused-attention", "returns-tuple-or-dict", "images-channels-last"}
    assert PROPERTY.keys() - planted == by_programs_without_mutants | by_correct_programs
    assert set(PROPERTY.values()) <= PROPERTIES.keys()


def test_the_document_is_as_it_would_be_written_now() -> None:
    assert DOCUMENT.read_text("utf-8") == document()
