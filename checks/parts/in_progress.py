"""Parts of unfinished work that can be seen by themselves, below what is not written yet."""

from __future__ import annotations

from collections.abc import Mapping

from ...reference.components import COMPONENTS
from ..assignment.asked_parts import AskedPart
from ..assignment.asked_points import Points
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
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
    parts = Parts(_asking_for_parts(examination))
    return {key: part for name in _ALONE for key, part in _stages_of(name, parts, examination).items()}


def _asking_for_parts(examination: Examination) -> Examination:
    components = {name: AskedPart(points=0) for name in _ALONE}
    update = {"architectures": (), "points": Points(), "components": components, "exercises": {}}
    asked = examination.assignment.model_copy(update=update)
    return Examination(examination.source, examination.session, asked, examination.seed)


def _stages_of(name: str, parts: Parts, examination: Examination) -> dict[str, ComponentExamination]:
    stages = COMPONENTS[name].stages
    if not examination.to_write.issuperset(stages):
        return {}
    component = parts.part(name).component
    if component is None or component.crash is not None:
        return {}
    found = {step.key for step in component.walk.steps}
    return dict.fromkeys(stages, component) if 2 * len(found.intersection(stages)) > len(stages) else {}
