"""Values that student code may read in any of the ways in which configurations are read."""

from __future__ import annotations

from typing import Any


class Settings(dict[str, Any]):
    """A configuration that can be read as ``config["dim"]``, as ``config.dim``, and as ``**config``."""

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
