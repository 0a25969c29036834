"""When garbage is looked for: neither in what stays for ever, nor again and again in what is at work."""

from __future__ import annotations

import ctypes
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
        clear_memory()


def clear_memory() -> None:
    """Give back what is garbage by now; without this, what a few large passes leave fills the memory."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # the GNU library's alone
    if trim is not None:
        trim(0)  # pages that lie between what is still in use, too
