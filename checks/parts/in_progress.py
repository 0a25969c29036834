"""Parts that can be seen by themselves where the whole is not written yet, or is no model at all."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from ...reference.components import COMPONENTS
from ...submissions.errors import SubmissionError
from ..assignment.asked_parts import AskedPart
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
from ..vit.vit_family import VIT
from .alone import asking_for
from .component import ComponentExamination
from .parts import Parts
from .seen_alone import stages_shown

# so that one of their parts may do nothing
_MADE_OF_PARTS = ("block", "encoder", "encoder_and_head", "model_of_patches")
_BEGUN_BEFORE = (*_MADE_OF_PARTS, "patches")  # may be: their first stage is what others give, too
# a block says more than the parts of it
_ALONE = (
    "patch_embedding", "class_token", "positions", "embedding",
    "attention", "attention_head", "dot_product_attention", "mlp", "block", "encoder",
    "head", "classifier", "patches", "layer_norm",
)  # fmt: skip


@asked_once
def written_parts(examination: Examination) -> Mapping[str, ComponentExamination]:
    """Return the part that computes a stage which the whole pass never came to, by the stage's key.

    There is none in a model that came to its end, and none where a part is not written either.
    """
    if not _unreached(examination) or examination.family is not VIT:
        return {}
    found: dict[str, ComponentExamination] = {}
    for form in examination.forms:
        parts = _parts(form)
        with suppress(SubmissionError):  # whatever else asks its process meets the same
            for name in (*_MADE_OF_PARTS, "head") if form.passed_on else _ALONE:
                found = _stages_of(name, parts, examination) | found
    return found


def _parts(form: Examination) -> Parts:
    names = dict.fromkeys((*_ALONE, *_MADE_OF_PARTS))
    asked = asking_for(form.assignment, {name: AskedPart(points=0) for name in names})
    asked = asked.model_copy(update={"architectures": form.asked_blocks})
    of_parts = Examination(form.source, form.session, asked, form.seed)
    of_parts.passed_on = form.passed_on
    return Parts(of_parts)


def demand_a_part(examination: Examination) -> None:
    """Raises the NotLoaded for which there is no model, where no part of it can be seen by itself."""
    if examination.unbuilt and not written_parts(examination):
        raise examination.unbuilt


def _unreached(examination: Examination) -> frozenset[str]:
    """Keys of the stages that are not written yet, or lie behind an exception; without a pass, of all.

    Where a class is named that is asked for, it may be no model: of what raises, nothing else counts then.
    """
    is_named = examination.assignment.model.name is not None
    if examination.unbuilt:
        return frozenset(() if is_named else examination.keys)
    crash = examination.diagnosis if examination.examples else None
    if crash is None or not crash.here or is_named:
        return examination.to_write
    reached = {crash.stage, *(step.key for step in examination.walk.steps)}
    return frozenset(examination.keys) - reached


def _stages_of(name: str, parts: Parts, examination: Examination) -> dict[str, ComponentExamination]:
    own = _unreached_of(name, examination)
    part = parts.part(name).component if own else None
    if part is None or (part.crash is not None and not part.unfinished):
        return {}
    also = [one for one in part.walk.steps if one.key in part.row.also]
    # what is given is not made; what is in no record follows from what is
    own = [*own, *(one.key for one in also if one.found is None or one.found.record)]
    own = [key for key in own if key not in part.to_write]
    shown = stages_shown(own, part, examination)
    part.to_come = frozenset(own).difference(shown)
    return dict.fromkeys(shown, part)


def _unreached_of(name: str, examination: Examination) -> list[str]:
    """The stages of this component; none where the pass has come to one of them."""
    stages, unreached = COMPONENTS[name].stages, _unreached(examination)
    fails = examination.examples and examination.crash is not None and not examination.unfinished
    if name == "patches" and fails:  # which an embedding that fails has made, too
        return []
    own = [*(stages[1:] if name in _BEGUN_BEFORE and stages[0] not in unreached else stages)]
    return own if unreached.issuperset(own) else []
