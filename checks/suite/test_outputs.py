"""What the model returns beside its scores, where the assignment asks for it."""

import pytest

from vitcheck.checks.examination import Examination
from vitcheck.checks.outputs import OUTPUTS, check_output


@pytest.mark.parametrize("name", OUTPUTS)
def test_output(examination: Examination, name: str) -> None:
    """Is what it claims to be."""
    check_output(examination, name)
