"""The single components that the assignment asks for."""

from vitcheck.checks.assignment.asked_parts import Aspect
from vitcheck.checks.parts.parts import Parts
from vitcheck.reference.components import Component


# no docstring here: the titles of the component and of the aspect are the title of its check
def test_component(parts: Parts, component: Component, aspect: Aspect) -> None:
    parts.check(component.key, aspect.key)
