"""Every stage: its shape, its equation, its invariants, and the reference with the student's weights."""

# pytest imports this file by its path, where relative imports do not reach the package
import pytest

from vitcheck.checks import judging
from vitcheck.checks.examination import Examination
from vitcheck.checks.invariants import INVARIANTS
from vitcheck.reference.stages import STAGES

STAGES_OF_CODE = [pytest.param(one.key, id=one.label) for one in STAGES if one.key != "image"]


@pytest.mark.parametrize("key", STAGES_OF_CODE)
def test_shape(examination: Examination, key: str) -> None:
    """Has the shape that the assignment's sizes give."""
    judging.check_shape(examination, key)


@pytest.mark.parametrize("key", STAGES_OF_CODE)
def test_equation(examination: Examination, key: str) -> None:
    """Is what its equation gives from the stages before."""
    judging.check_equation(examination, key)


@pytest.mark.parametrize("key", [one for one in STAGES_OF_CODE if one.values[0] in INVARIANTS])
def test_invariant(examination: Examination, key: str) -> None:
    """Keeps what always holds of it."""
    judging.check_invariant(examination, key)


@pytest.mark.parametrize("key", STAGES_OF_CODE)
def test_reference(examination: Examination, key: str) -> None:
    """Equals the reference that carries the same weights."""
    judging.check_reference(examination, key)
