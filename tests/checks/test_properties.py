"""Each property fails on the mistakes that it is there for, and holds on correct code of any style."""

from __future__ import annotations

import pytest
from examining import examine

from vitcheck.checks.properties import PROPERTIES
from vitcheck.checks.verdicts import CheckFailed, NotApplicable, NotReached

# Where no edit of weights from outside can tell heads apart.
NOT_APPLICABLE = {
    ("per_head_modules", "head-permutation"),
    ("raw_parameters", "head-permutation"),
}
CAUGHT = [
    ("report-functional-dropout-always-on", "repeatable", "functional-dropout-always-on"),
    ("report-dropout-built-in-forward", "repeatable", "dropout-built-in-forward"),
    ("fused_sdpa-sdpa-dropout-in-eval", "repeatable", "sdpa-dropout-in-eval"),
    ("report-state-leak", "repeatable", "state-leak"),
    ("report-reseeds-in-forward", "no-side-effects", "reseeds-in-forward"),
    ("report-rng-consumed-in-eval", "no-side-effects", "rng-consumed-in-eval"),
    ("report-input-mutated-in-place", "no-side-effects", "input-mutated-in-place"),
    ("report-params-created-in-forward", "no-side-effects", "params-created-in-forward"),
    ("report-path-detached", "gradients", "path-detached"),
    ("report-unused-parameter", "gradients", "unused-parameter"),
    ("report-requires-grad-off", "gradients", "requires-grad-off"),
    ("report-no-grad-in-blocks", "gradients", "no-grad-in-blocks"),
    ("report-batch-size-hard-coded", "batch-sizes", "batch-size-hard-coded"),
    ("report-squeeze-drops-batch", "batch-sizes", "squeeze-drops-batch"),
]


@pytest.mark.parametrize(("mutant", "name", "mistake"), CAUGHT, ids=lambda one: str(one))
def test_a_mistake_breaks_its_property_and_is_named(mutant: str, name: str, mistake: str) -> None:
    with pytest.raises(CheckFailed) as failed:
        PROPERTIES[name](examine(mutant))
    assert mistake in failed.value.mistakes
    assert failed.value.draw is not None


