"""What every record is: immutable, and readable as JSON by later versions. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import Self

from .shown_texts import shown

SCHEMA = 1  # goes up by one where older programs could not read the record; what is older is always read


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    _shown = model_validator(mode="before")(shown)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """As pydantic's, with texts ``shown`` as where it is made."""
        return super().model_copy(update=shown(update), deep=deep)


class Document(Frozen):
    """A record that is written to a file of its own, and the arrays that its figures are drawn from."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: int = Field(SCHEMA, alias="schema", serialization_alias="schema")
    arrays: bytes | None = Field(default=None, exclude=True, repr=False)  # a safetensors file beside it

    @model_validator(mode="before")
    @classmethod
    def _no_newer_schema(cls, document: object) -> object:
        """Of a record of the future, this is all that can be said."""
        schema = document.get("schema", SCHEMA) if isinstance(document, dict) else SCHEMA
        if isinstance(schema, int) and schema > SCHEMA:
            raise ValueError(
                f"the record is of schema {schema}, which a later vitcheck wrote, and this one reads up to"
                f" {SCHEMA}: install that version to read it"
            )
        return document

    def to_json(self) -> str:
        """The document as it is written, without ``arrays``: same result, same bytes."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, arrays: bytes | None = None) -> Self:
        """Read the document, whichever version of vitcheck wrote it, up to this one.

        Raises pydantic.ValidationError, which is a ValueError, where ``text`` is no such record, or one of a
        later schema.
        """
        return cls.model_validate_json(text).model_copy(update={"arrays": arrays})
