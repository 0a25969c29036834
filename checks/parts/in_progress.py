"""Parts of unfinished work that can be seen by themselves, below what is not written yet."""

from __future__ import annotations

from collections.abc import Mapping

from ...reference.components import COMPONENTS
from ..assignment.asked_parts import AskedPart
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
from .alone import asking_for
from .component import ComponentExamination
from .parts import Parts

_ALONE = ("attention", "mlp")  # what has stages that no other component has


@asked_once
def written_parts(examination: Examination) -> Mapping[str, ComponentExamination]:
    """Return the part that computes a stage which the whole pass never came to, by the stage's key.

    There is none in a finished model, and none where a part is not written either.
    """
    if not examination.to_write or examination.session.is_script:
        return {}
    asked = asking_for(examination.assignment, {name: AskedPart(points=0) for name in _ALONE})
    parts = Parts(Examination(examination.source, examination.session, asked, examination.seed))
    return {key: part for name in _ALONE for key, part in _stages_of(name, parts, examination).items()}


def _stages_of(name: str, parts: Parts, examination: Examination) -> dict[str, ComponentExamination]:
    stages = COMPONENTS[name].stages
    if not examination.to_write.issuperset(stages):
        return {}
    component = parts.part(name).component
    if component is None or component.crash is not None:
        return {}
    found = {step.key for step in component.walk.steps}
    return dict.fromkeys(stages, component) if 2 * len(found.intersection(stages)) > len(stages) else {}
