"""Parts of unfinished work that can be seen by themselves, below what is not written yet."""

from __future__ import annotations

from collections.abc import Mapping

from ...reference.components import COMPONENTS
from ...submissions.reading.unwritten import early_ends
from ..assignment.asked_parts import AskedPart
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
from .alone import asking_for
from .component import ComponentExamination
from .parts import Parts

_OF_CALLERS = {"attention-over-batch-axis"}  # what hangs on the order of axes in which it is called
# a block says more than the parts of it
_ALONE = ("patch_embedding", "class_token", "positions", "attention", "mlp", "block")


@asked_once
def written_parts(examination: Examination) -> Mapping[str, ComponentExamination]:
    """Return the part that computes a stage which the whole pass never came to, by the stage's key.

    There is none in a finished model, and none where a part is not written either.
    """
    if not examination.to_write or examination.session.is_script:
        return {}
    asked = asking_for(examination.assignment, {name: AskedPart(points=0) for name in _ALONE})
    asked = asked.model_copy(update={"architectures": examination.asked_blocks})
    parts = Parts(Examination(examination.source, examination.session, asked, examination.seed))
    return {key: part for name in _ALONE for key, part in _stages_of(name, parts, examination).items()}


def _stages_of(name: str, parts: Parts, examination: Examination) -> dict[str, ComponentExamination]:
    stages = COMPONENTS[name].stages
    # what goes into a block may be there already: the tokens
    own = [key for key in stages if key != "block_input" or key in examination.to_write]
    if not examination.to_write.issuperset(own):
        return {}
    component = parts.part(name).component
    if component is None or component.crash is not None:
        return {}
    found = {step.key for step in component.walk.steps}
    is_there = 2 * len(found.intersection(stages)) > len(stages) and _is_such(component)
    if name == "block":  # of which a part may be a placeholder, and the others are looked at alone
        is_there = is_there and found.issuperset(stages) and _is_whole(component, examination)
    return dict.fromkeys(own, component) if is_there else {}


def _is_such(part: ComponentExamination) -> bool:
    """Is it right, or wrong in a known way? Else it may be something else, such as several blocks."""
    unknown = part.unexplained or part.missing or _OF_CALLERS & part.walk.ids
    return not unknown or not any(map(part.is_wrong, part.keys))


def _is_whole(block: ComponentExamination, examination: Examination) -> bool:
    """Is all of it right, or does nothing in it end early but what the pass ends with?"""
    if not any(map(block.is_wrong, block.keys)):
        return True
    end = examination.unfinished.frame if examination.unfinished else None
    return all(one == end for one in early_ends(examination.source.files, block.candidate.name))
