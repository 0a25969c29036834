"""The parts of an assignment file that the architecture has a say in. Imports no torch.

Which architecture it is, the context of the validation tells.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    SerializeAsAny,
    TypeAdapter,
    ValidationInfo,
)

from ...reference.model_sizes import ModelSizes
from ...submissions.questions.meanings import VALUES
from ...submissions.questions.pins import Pins
from ..architecture.complaints import near
from ..architecture.family import Family, family
from .asked_table import AskedTable


def family_of(info: ValidationInfo) -> Family:
    """The architecture whose assignment is read."""
    found: Family = (info.context or {}).get("family") or family("vit")
    return found


def _argument(value: object, info: ValidationInfo) -> object:
    if not isinstance(value, str):
        return value
    if value.startswith("="):
        try:
            ast.literal_eval(value[1:])
        except (ValueError, SyntaxError):
            raise ValueError(f"what comes after '=' is not a Python value: {value[1:]}") from None
        return value
    known = {**VALUES, **family_of(info).sizes.letters}
    if value not in known:
        raise ValueError(
            f"{value!r} is not a known meaning (a value has '=' before it); {near(value, known)}"
        )
    return value


class AskedModel(AskedTable):
    """What the assignment says of the model's class, so that it need not be inferred.

    ``arguments`` gives arguments of the constructor a meaning (``"embed_dim"``) or a value (``"=16"``).
    """

    name: str | None = None
    arguments: dict[str, Annotated[Any, AfterValidator(_argument)]] = {}

    @property
    def pins(self) -> Pins:
        """The same, as a submission's process is told."""
        return Pins(self.name, self.arguments)


def _variant(name: str, info: ValidationInfo) -> str:
    return family_of(info).mistake(name).id


def _sizes(table: object, info: ValidationInfo) -> object:
    """The sizes of the architecture, from a preset where the file names no others."""
    asked = family_of(info)
    if isinstance(table, dict):
        if "batch" in table:
            raise ValueError("the full size is that of one image, so batch cannot be set")
        table = _with_preset(table, asked)
    return TypeAdapter(asked.sizes).validate_json(json.dumps(table), strict=True)


def _with_preset(table: Mapping[str, Any], family: Family) -> dict[str, Any]:
    given = dict(table)
    named = given.pop("preset", None) if family.preset else None
    if named is not None and family.preset:
        return asdict(family.preset(str(named))) | given
    if missing := [name for name in family.sizes.letters if name not in given and name != "batch"]:
        instead = 'preset = "B/16" or the like, or also ' if family.preset else ""
        raise ValueError(f"needs {instead}{', '.join(missing)}")
    return given


def _blocks(names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    return _all_known(names, family_of(info).blocks, "kind of block")


def _label_sets(names: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
    known = [*family_of(info).label_sets, "own"]  # the last one where [numbering] says it
    return _all_known(names, known, "set of labels")


def _all_known(names: tuple[str, ...], known: Collection[str], what: str) -> tuple[str, ...]:
    for name in names:
        if name not in known:
            raise ValueError(f"{name!r} is not a {what}; {near(name, known)}")
    return names


FullSizes = Annotated[SerializeAsAny[ModelSizes], PlainValidator(_sizes)]
Blocks = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_blocks)]
Labels = Annotated[tuple[str, ...], Field(min_length=1), AfterValidator(_label_sets)]
Known = Annotated[str, AfterValidator(_variant)]  # the id of a mistake or variant
