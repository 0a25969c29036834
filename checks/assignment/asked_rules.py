"""The table of an assignment file about the code itself. Imports no torch."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from .asked_table import AskedTable
from .asked_variants import Permission, permission


class Rules(AskedTable):
    """The rules about the code itself that are checked."""

    breakpoints: bool = True
    prints: bool = True
    parameters: bool = False
    library_model: Annotated[Permission, BeforeValidator(permission)] = Permission(allow=True)
