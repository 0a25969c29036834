"""What an assignment says of the model's class. Imports no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pins:
    """What the assignment says of the model, so that it need not be inferred.

    ``arguments`` gives arguments and constants by name (``"config.dim"`` for a key) a meaning such as
    ``"embed_dim"``, or a value: ``"=16"`` or anything that is no string.
    """

    model: str | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)
