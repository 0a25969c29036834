"""The single components that the assignment asks for."""

from vitcheck.checks.components.parts import Parts
from vitcheck.reference.components import Component


# no docstring here: the component's own title is the title of its check
def test_component(parts: Parts, component: Component) -> None:
    parts.check(component.key)
