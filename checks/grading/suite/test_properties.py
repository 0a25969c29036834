"""Properties of the whole model, each stated between two or more passes."""

from vitcheck.checks.examining.examination import Examination
from vitcheck.checks.rules.properties import Property, judge


# no docstring here: what a property says of itself is the title of its check
def test_property(examination: Examination, holds: Property) -> None:
    judge(examination, holds)
