"""What is said of a program that one small change makes right: one mistake, at its stage and on its line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from ...submissions.errors import Frame
from ...submissions.reading.code import parsed_file
from ...submissions.reading.code_scopes import stored_for
from ...submissions.reading.edits.edit import Kind
from ..architecture.catalogue import mistakes
from ..assignment.kinds import judges_stage, kind_of
from ..examining.crashes.crashing import UNEXPLAINED
from ..examining.examination import Examination
from ..examining.placing import place_of
from ..examining.repair import Repair
from ..examining.verdicts import CheckOutcome
from .repairing import Mended
from .rightness import excused

IDS: Mapping[Kind, str] = {
    "operator": "wrong-operator",
    "variable": "wrong-variable",
    "layer": "wrong-layer",
    "number": "wrong-number",
    "order": "wrong-argument-order",
    "turned": "wrong-argument-order",
    "brackets": "wrong-brackets",
    "extra": "extra-step",
    "kept": "result-not-used",
    "missing": "missing-step",
    "lines": "wrong-line-order",
    "argument": "missing-argument",
    "condition": "wrong-condition",
    "option": "wrong-option",
    "loop": "returns-inside-loop",
    "outside": "outside-of-loop",
    "overwritten": "overwritten-too-early",
    "repeated": "one-layer-repeated",
}

SLIP_IDS = frozenset(IDS.values())
_REPEATABLE = "property[repeatable]"
_UNUSED = {"unused-parameter", "path-detached"}


def amiss(outcomes: Sequence[CheckOutcome]) -> list[CheckOutcome]:
    """The checks that failed, and those of stages that did not find theirs."""
    return [
        one
        for one in outcomes
        if one.outcome == "failed" or (one.outcome == "not_reached" and one.stage is not None)
    ]


def wrong_stages(outcomes: Sequence[CheckOutcome]) -> list[CheckOutcome]:
    """Those of them that say of a stage whether it is right."""
    return [one for one in amiss(outcomes) if _judges(one)]


def may_be_a_slip(outcomes: Sequence[CheckOutcome]) -> bool:
    """Is a stage wrong, or does a part of the model learn nothing, as one does that is not used?"""
    return bool(wrong_stages(outcomes)) or any(_UNUSED & {*one.mistakes} for one in amiss(outcomes))


def drawn_at(outcomes: Sequence[CheckOutcome]) -> Frame | None:
    """The line that draws random numbers in each pass: nothing else can make what is computed right."""
    drawing = _drawing(outcomes)
    return None if drawing is None else drawing.frame


def drawn(outcomes: Sequence[CheckOutcome], examination: Examination) -> list[CheckOutcome]:
    """The outcomes in which a stage that is made on that line, and has no name, has the name of drawing."""
    drawing = _drawing(outcomes)
    if drawing is None or drawing.frame is None:
        return list(outcomes)
    unnamed = [
        one
        for one in wrong_stages(outcomes)
        if one.stage and not one.mistakes and place_of(examination, one.stage) == drawing.frame
    ]
    return [replace(one, mistakes=drawing.mistakes) if one in unnamed else one for one in outcomes]


def _drawing(outcomes: Sequence[CheckOutcome]) -> CheckOutcome | None:
    return next((one for one in outcomes if one.id == _REPEATABLE and one.outcome == "failed"), None)


def is_named(outcomes: Sequence[CheckOutcome]) -> bool:
    """Is all that is wrong with stages one mistake that has a name, and not that of what follows from it?"""
    ids = {one.mistakes[:1] for one in wrong_stages(outcomes) if one.outcome == "failed"}
    return len(ids) == 1 and all(one and not _follows_another(*one) for one in ids)


def _follows_another(id: str) -> bool:
    return id in mistakes() and bool(mistakes()[id].follows)


def told(
    outcomes: Sequence[CheckOutcome], one: Mended, mended: Set[str], examination: Examination
) -> list[CheckOutcome]:
    """The outcomes with the change as the cause of what it mends, which is noted in the examination.

    What is accepted as a form of the model, and gone with the change, was none: the code has what it takes.

    The checks that are ``mended`` pass with it: what they say is its consequence. What has a name keeps it:
    its line is known now. Where the pass raised, only on that line: of half a pass other things are said.
    """
    wrong, repair = [each for each in wrong_stages(outcomes) if each.id in mended], one.repair
    left = {each.stage for each in wrong_stages(outcomes) if each.id not in mended}
    mends = {each.stage for each in wrong if each.stage is not None} - left
    if wrong and (examination.crash is not None or is_named(wrong)):
        named = [each for each in wrong if each.mistakes and _keeps_name(each, repair, examination)]
        stage = named[0].stage if named else examination.stopped_at or wrong[0].stage
        repair = replace(repair, stage=stage or repair.stage)
        kept = {each.id for each in wrong if each.outcome == "not_reached" or each.stage == repair.stage}
        kept |= {each.id for each in named}
    else:
        repair = replace(repair, follows=frozenset(mends - {repair.stage}))
        kept = {each.id for each in wrong if each.stage == repair.stage and _is_measured(each)}
    at = _bearer(outcomes, repair.stage)
    if at is None:  # nothing could say so: the assignment does not ask for that stage
        return list(outcomes)
    repair = replace(repair, mends=frozenset(mends - {repair.stage}))
    examination.repairs = (*examination.repairs, repair)
    shown = excused(one.before) - excused(one.after)
    ids = _named_elsewhere(outcomes, repair) or tuple(sorted(shown)) or (IDS[repair.edit.kind],)
    return [_told(each, each is at, repair, ids, mended - kept) for each in outcomes]


def _keeps_name(one: CheckOutcome, repair: Repair, examination: Examination) -> bool:
    if examination.crash is None or one.stage is None:
        return True
    place = one.frame or place_of(examination, one.stage)
    return place is not None and (place == repair.frame or _is_made_at(repair.frame, place, examination))


def _is_made_at(made: Frame, place: Frame, examination: Examination) -> bool:
    """Is what a line reads of ``self`` made on the other one?"""
    tree = parsed_file(examination.source.files, place.file)
    lines = stored_for(tree) if tree is not None and made.file == place.file else ()
    return (place.line, made.line) in lines


def _named_elsewhere(outcomes: Sequence[CheckOutcome], repair: Repair) -> tuple[str, ...]:
    """What a check of the whole model says of the same line."""
    return next((one.mistakes for one in outcomes if one.mistakes and one.frame == repair.frame), ())


def _told(
    one: CheckOutcome, is_cause: bool, repair: Repair, ids: tuple[str, ...], mended: Set[str]
) -> CheckOutcome:
    if is_cause or (one.stage == repair.stage and _judges(one) and _is_measured(one)):
        message = one.message if _is_measured(one) else _cause(repair)
        # what follows another mistake is none by itself, but says more of a slice than its number does
        own = tuple(id for id in one.mistakes if repair.edit.kind == "number" or not _follows_another(id))
        return replace(one, outcome="failed", message=message, mistakes=own or ids)
    if one.id not in mended:
        return one
    if one.stage is None:
        return replace(one, outcome="not_reached", message=_follows("holds", repair), mistakes=())
    return replace(one, outcome="passed", message=_follows("is right", repair), mistakes=())


def _is_measured(one: CheckOutcome) -> bool:
    """Does its message say what was seen of the stage?"""
    return one.outcome == "failed" and not one.message.startswith(UNEXPLAINED)


def _cause(repair: Repair) -> str:
    return f"What line {repair.edit.line} computes is not what the equation gives."


def _follows(holds: str, repair: Repair) -> str:
    return f"It {holds} once line {repair.edit.line} is right."


def _bearer(outcomes: Sequence[CheckOutcome], key: str) -> CheckOutcome | None:
    """The check of the stage that tells of the change: one that measured it, else the one of its equation."""
    mine = [one for one in outcomes if one.stage == key and _judges(one)]
    of_values = (one for one in mine if kind_of(one.id) == "equation")
    return next((one for one in mine if _is_measured(one)), next(of_values, next(iter(mine), None)))


def _judges(one: CheckOutcome) -> bool:
    return one.stage is not None and judges_stage(one.id)
