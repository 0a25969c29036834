"""The keys that there are in an assignment file, for what is said of an unknown one. Imports no torch."""

from __future__ import annotations

from pydantic import BaseModel

from ...reference.components import COMPONENTS
from ...reference.exercises import EXERCISES
from ...submissions.limits import Limits
from ..architecture.family import Family
from .asked_late import LatePolicy
from .asked_model import AskedModel
from .asked_parts import AskedPart, ExercisePart
from .asked_points import MistakePoints, Points
from .asked_rules import Rules
from .asked_variants import Permission
from .asked_writing import WrittenPart, WrittenQuestion


def known_keys(table: tuple[str, ...], family: Family, whole: type[BaseModel]) -> list[str]:
    """Return the keys that a table of the file may hold, which as a ``whole`` is of that model."""
    if table == ("sizes",):
        return [*(["preset"] if family.preset else []), *(n for n in family.sizes.letters if n != "batch")]
    if table == ("limits",):
        return list(Limits.__dataclass_fields__)
    models: dict[tuple[str, ...], type[BaseModel]] = {
        (): whole,
        ("model",): AskedModel,
        ("points",): Points,
        ("points", "mistakes"): MistakePoints,
        ("rules",): Rules,
        ("written",): WrittenPart,
        ("late",): LatePolicy,
    }
    if table in (("components",), ("exercises",)):
        return list(COMPONENTS if table == ("components",) else EXERCISES)
    parts: dict[str, type[BaseModel]] = {
        "components": AskedPart,
        "exercises": ExercisePart,
        "written": WrittenQuestion,
    }
    model = models[table] if table in models else parts.get(table[0], Permission)
    return [field.alias or name for name, field in model.model_fields.items()]
