"""Properties of the whole model, each stated between two or more passes."""

import pytest

from vitcheck.checks.examination import Examination
from vitcheck.checks.properties import PROPERTIES


@pytest.mark.parametrize("name", PROPERTIES)
def test_property(examination: Examination, name: str) -> None:
    PROPERTIES[name](examination)
