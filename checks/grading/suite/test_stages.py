"""Every stage: its shape, its equation, its invariants, and the reference with the student's weights.

Which stages there are, the architecture says: they become parameters when the suite is collected.
"""

# pytest imports this file by its path, where relative imports do not reach the package
from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.rules import judging


def test_shape(examination: Examination, key: str) -> None:
    """Has the shape that the assignment's sizes give."""
    judging.check_shape(examination, key)


def test_equation(examination: Examination, key: str) -> None:
    """Is what its equation gives from the stages before."""
    judging.check_equation(examination, key)


def test_invariant(examination: Examination, key: str) -> None:
    """Keeps what always holds of it."""
    judging.check_invariant(examination, key)


def test_reference(examination: Examination, key: str) -> None:
    """Equals the reference that carries the same weights."""
    judging.check_reference(examination, key)
