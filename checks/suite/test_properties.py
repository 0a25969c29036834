"""Properties of the whole model, each stated between two or more passes."""

import pytest

from vitcheck.checks.examination import Examination
from vitcheck.checks.properties import PROPERTIES, Property, judge


# no docstring here: what a property says of itself is the title of its check
@pytest.mark.parametrize("holds", [pytest.param(one, id=name) for name, one in PROPERTIES.items()])
def test_property(examination: Examination, holds: Property) -> None:
    judge(examination, holds)
