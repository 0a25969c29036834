"""Parts that can be seen by themselves where the whole is not written yet, or is no model at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from ...reference.components import COMPONENTS
from ...submissions.errors import SubmissionError
from ...submissions.reading.unwritten import early_ends
from ..assignment.asked_parts import AskedPart
from ..examining.asked_once import asked_once
from ..examining.examination import Examination
from ..locating.reached import LEFT_OUT, lacks_something
from ..vit.vit_family import VIT
from .alone import asking_for
from .component import ComponentExamination
from .parts import Parts

# what hangs on the order of axes in which it is called, and on what it is given
_OF_CALLERS = {"attention-over-batch-axis", "head-on-all-tokens"}
_OF_ONE_HEAD = {"num-heads-ignored", "output-projection-missing"}
_ADDING = ("class_token", "positions")  # which are not there at all where they leave out what they add
# so that one of their parts may do nothing
_MADE_OF_PARTS = ("block", "encoder", "encoder_and_head", "model_of_patches")
_BEGUN_BEFORE = (*_MADE_OF_PARTS, "patches")  # may be: their first stage is what others give, too
_AROUND = {"post_attention_norm", "post_mlp_norm"}
# a block says more than the parts of it
_ALONE = (
    "patch_embedding", "class_token", "positions",
    "attention", "mlp", "block", "encoder",
    "head", "classifier", "patches",
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
            for name in _MADE_OF_PARTS if form.passed_on else _ALONE:
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
    stages = COMPONENTS[name].stages
    unreached = _unreached(examination)
    fails = examination.examples and examination.crash is not None and not examination.unfinished
    if name == "patches" and fails:  # which an embedding that fails has made, too
        return {}
    own = [*(stages[1:] if name in _BEGUN_BEFORE and stages[0] not in unreached else stages)]
    if not unreached.issuperset(own):
        return {}
    component = parts.part(name).component
    if component is None or (component.crash is not None and not component.unfinished):
        return {}
    found = {step.key for step in component.walk.steps}
    also = [one for one in component.walk.steps if one.key in COMPONENTS[name].also]
    # what is given is not made; what is in no record follows from what is
    own += [one.key for one in also if one.found is None or one.found.record]
    own = [key for key in own if key not in component.to_write]
    if name == "model_of_patches" and "pos-missing" in component.walk.ids:  # it is rather the encoder alone
        return {}
    if component.passed_on:  # the sums around what does nothing
        return dict.fromkeys(own, component) if found >= _AROUND and _is_such(component) else {}
    is_there = 2 * len(found.intersection(stages)) > len(stages) and _is_such(component)
    if name in _ADDING:
        is_there = is_there and not any(one.endswith(LEFT_OUT) for one in component.walk.ids)
        # anything may be multiplied by a vector
        is_there = is_there and (
            component.candidate.named or not any(map(component.is_wrong, component.keys))
        )
    if name == "block":  # of which a part may be a placeholder, and the others are looked at alone
        is_there = is_there and found.issuperset(stages) and _is_whole(component, examination)
    return dict.fromkeys(_without_end(own, component), component) if is_there else {}


def _without_end(keys: Sequence[str], part: ComponentExamination) -> Sequence[str]:
    """Those before the last ones that leave something out, where the code of the part ends early."""
    if not part.ends_early:
        return keys
    lacking = {one.key for one in part.walk.steps if lacks_something(one)}
    there = [at for at, key in enumerate(keys, 1) if key not in lacking]
    return keys[: max(there, default=0)]


def _is_such(part: ComponentExamination) -> bool:
    """Is it right, or wrong in a known way, or in one place, which is not its end unless its name says so?

    Else it may be something else, such as several blocks, or one head.
    """
    unknown = {key for key, _ in part.unexplained} | {*part.missing} | (_OF_CALLERS & part.walk.ids)
    wrong = {key for key in part.keys if key not in part.to_write and part.is_wrong(key)}
    is_meant = part.candidate.named and part.row.key == "attention" and len(wrong) == 1
    end = () if is_meant else part.row.stages[-1:]
    is_near = len(unknown) <= 1 and not unknown.intersection((*part.missing, *end, *_OF_CALLERS))
    return not wrong or (is_near and not part.walk.ids.issuperset(_OF_ONE_HEAD))


def _is_whole(block: ComponentExamination, examination: Examination) -> bool:
    """Is all of it right, or does nothing in it end early but what the pass ends with?"""
    if not any(map(block.is_wrong, block.keys)):
        return True
    whole = None if examination.unbuilt else examination.unfinished
    end = whole.frame if whole else None
    return all(one == end for one in early_ends(examination.source.files, block.candidate.name))
