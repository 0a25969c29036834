"""How much of a program is right: what it is with a change is held against what it was without."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile

from ..examining.examination import Examination
from ..locating.walk import Walk

_PLACE = re.compile(r"(?<=\.)\d+(?=\.)")  # of a layer in a sequence


def forms_read(examination: Examination) -> Counter[str]:
    """How often parameters of each name are read, whatever their places among the layers of a sequence."""
    return Counter(_PLACE.sub("…", one) for one in examination.first.trace.parameters_read)


def excused(examination: Examination) -> set[str]:
    """The mistakes that are accepted here, as forms of the model."""
    ids = {one.id for one in examination.findings()}
    kinds = examination.family.mistakes
    return {id for id in ids if kinds[id].kind == "error" and not examination.counts(id)}


def lacking(examination: Examination) -> set[str]:
    """The keys of stages that are not there, as an accepted variant has it."""
    ids = (one.id for one in examination.findings() if not examination.counts(one.id))
    return {key for id in ids for key in examination.family.mistake(id).without}


def all_right(walk: Walk, examination: Examination) -> bool:
    return walk.unexplained is None and not any(map(examination.is_amiss, walk.steps))


def right_steps(walk: Walk, examination: Examination) -> int:
    """How many there are before the first that is wrong."""
    return len([*takewhile(lambda one: not examination.is_amiss(one), walk.steps)])


def wrong_keys(walk: Walk, examination: Examination) -> set[str]:
    return {one.key for one in walk.steps if examination.is_amiss(one)}
