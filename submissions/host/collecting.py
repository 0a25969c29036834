"""When garbage is looked for: neither in what stays for ever, nor again and again in what is at work."""

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


@contextmanager
def collected_afterwards() -> Iterator[None]:
    """What one submission leaves is looked for when it is done: before that nearly all of it is in use."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()
