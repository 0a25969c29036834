"""What the model returns beside its scores, where the assignment asks for it."""

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.rules.outputs import check_output


def test_output(examination: Examination, output: str) -> None:
    """Is what it claims to be."""
    check_output(examination, output)
