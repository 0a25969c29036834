"""The table of an assignment file with a course's own numbers of the stages. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo

from ..architecture.complaints import near
from ..architecture.family import Family, family
from .asked_model import family_of

OWN = "own"  # what labels calls it


def _keys(value: object) -> object:
    """In the file one stage may stand alone."""
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


def _known(key: str, info: ValidationInfo) -> str:
    known = family_of(info).by_key
    if key not in known:
        raise ValueError(f"{key!r} is not a stage; {near(key, known)}")
    return key


_Label = Annotated[str, Field(pattern=r"^S\d\d$")]
_Stages = Annotated[tuple[Annotated[str, AfterValidator(_known)], ...], BeforeValidator(_keys)]
Numbering = dict[_Label, _Stages]


def numbered(architecture: str, own: Mapping[str, tuple[str, ...]]) -> Family:
    """Return the architecture with a course's own numbering beside the others.

    What that does not say is as in the table.
    """
    return _numbered(architecture, tuple(own.items())) if own else family(architecture)


@lru_cache(16)
def _numbered(architecture: str, own: tuple[tuple[str, tuple[str, ...]], ...]) -> Family:
    found = family(architecture)
    table = {one.label: (one.key,) for one in found.stages}
    return replace(found, numberings={**(found.numberings or {}), OWN: table | dict(own)})
