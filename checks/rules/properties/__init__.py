"""Properties of the whole model, most stated between two or more passes: no equation is needed.

Each is a function in a file of this folder, with ``holds`` above it. It raises CheckFailed where the property
does not hold, and NotApplicable where it means nothing. Its docstring is the title of its check, and
after "Else:" the heading where it fails. One that is ``begun`` holds of unfinished work, too, and one
``of_parts`` of each part that is seen by itself there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pkgutil import iter_modules

from ...examining.examination import Examination

Property = Callable[[Examination], None]

_FOUND: list[tuple[int, Property]] = []
BEGUN: set[Property] = set()
OF_CODE: set[Property] = set()
OF_PARTS: set[str] = set()  # by the names of their checks


def holds(
    *, order: int, begun: bool = False, of_code: bool = False, of_parts: bool = False
) -> Callable[[Property], Property]:
    """What makes a function a property. The lower ``order``, the sooner it is asked for.

    What may end the process of a submission comes last. What is not ``begun`` waits for the finished model;
    what is ``of_code`` sees to that itself, since some of it needs no model.
    """

    def found(function: Property) -> Property:
        _FOUND.append((order, function))
        BEGUN.update([function] * begun)
        OF_CODE.update([function] * of_code)
        OF_PARTS.update([_name(function)] * of_parts)
        return function

    return found


def _name(function: Property) -> str:
    return function.__name__.replace("_", "-")


for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

PROPERTIES: Mapping[str, Property] = {
    _name(function): function for _, function in sorted(_FOUND, key=lambda one: one[0])
}
