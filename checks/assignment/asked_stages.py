"""Which stages an assignment asks for, where it is not all of the model. Imports no torch."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, ValidationInfo

from ..architecture.family import Family
from .asked_model import family_of

_RUN = re.compile(r"\s*(S\d+)\s*(?:[-\u2013]|to)\s*(S\d+)\s*", re.IGNORECASE)


def _keys(told: object, info: ValidationInfo) -> tuple[str, ...]:
    """Of "S01-S08" or "S09, S12-S15" the keys, in the order of the table."""
    if not isinstance(told, str):
        raise ValueError('must be a text such as "S01-S08"')
    family = family_of(info)
    named = {key for part in told.split(",") for key in _part(part, family)}
    return tuple(one.key for one in family.stages if one.key in named)


def _part(text: str, family: Family) -> list[str]:
    run = _RUN.fullmatch(text)
    first, last = (run[1], run[2]) if run else (text.strip(), text.strip())
    keys = [one.key for one in family.stages]
    begin, end = (keys.index(family.stage(one).key) for one in (first, last))
    if end < begin:
        raise ValueError(f"{last} comes before {first}")
    return keys[begin : end + 1]


AskedStages = Annotated[tuple[str, ...], BeforeValidator(_keys)]  # keys; none where all are asked for
