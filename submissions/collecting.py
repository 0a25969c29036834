"""Importing what stays for ever without looking for garbage in it."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_collected() -> Iterator[None]:
    """While torch is imported nothing becomes garbage, and looking for it takes a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()  # nor are the imports looked through later, or their pages copied in a fork
        gc.enable()
