"""Which forms of the model an assignment accepts, and which it asks for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, model_validator

from ..architecture.complaints import UNSEEN
from .asked_model import Known
from .asked_table import AskedTable


class Permission(AskedTable):
    """Whether a variant is accepted, and what the student is told about it.

    One that is ``asked`` for is what the file to start from describes.
    """

    allow: bool
    asked: bool = False
    reason: str | None = None


def permission(value: object) -> object:
    """Read a word or a table. Raises ValueError where it is neither."""
    words: dict[object, object] = {
        "allow": {"allow": True},
        "ask": {"allow": True, "asked": True},
        "forbid": {"allow": False},
    }
    if isinstance(value, dict):
        return value
    if value in words:
        return words[value]
    raise ValueError('must be "allow", "ask", "forbid", or a table such as { allow = false, reason = "…" }')


class Variants(AskedTable):
    """Which forms of the model are accepted."""

    default: Literal["allow", "forbid"] = "allow"
    by_id: dict[Known, Annotated[Permission, BeforeValidator(permission)]] = {}

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, table: object) -> object:
        """In the file the rules stand beside the default."""
        if not isinstance(table, dict):
            return table
        default = {name: value for name, value in table.items() if name == "default"}
        return default | {UNSEEN: {name: value for name, value in table.items() if name != "default"}}
