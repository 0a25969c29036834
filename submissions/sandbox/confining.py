"""The locks on a submission's process, in the order in which they can be put on.

Each shuts out what an earlier one still needs. One that the system does not have is left out and named, and
the next is tried: whether what is in force is enough, the parent decides before it sends any code.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from ..limits import Limits, apply, apply_to_processes
from . import kernel, landlock, namespaces, own_files, seccomp

_SHARED_MEMORY = "/dev/shm"


@dataclass(frozen=True)
class Order:
    """What the parent wants: plain data, so that it can be sent."""

    scratch: str  # the folder in which the submission may write
    readable: Sequence[str]  # the paths that it may read, with all below
    hidden: Sequence[str]  # but for these, which are the grader's
    namespaces: bool  # whether it has been put into new ones


@dataclass
class Layers:
    """The locks that are in force, and why others are not."""

    in_force: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def attempt(self, name: str, lock: Callable[[], list[str]]) -> None:
        """Put on a lock, which says what it amounts to."""
        try:
            self.in_force += lock()
        except ImportError as error:
            self.missing[name] = f"the package {error.name} is not installed"
        except OSError as error:
            self.missing[name] = error.strerror or str(error)


def prepare() -> None:
    """Let the libraries look for the C library: in a child that takes long, and it is hidden."""
    with suppress(ImportError, OSError):
        import landlockpy

        landlockpy.abi_version()
    with suppress(ImportError, OSError):
        import seccompy

        seccompy.supported()


def confine(limits: Limits, order: Order | None) -> Layers:
    """Lock this process in as far as the system can; with no order, by limits alone."""
    layers = Layers()
    if order and order.namespaces:
        layers.in_force.append("namespaces")
        layers.attempt("process limit", partial(apply_to_processes, limits))
    layers.in_force += apply(limits)  # after the threads that were tried, and while /proc tells its size
    if order is None:
        return layers
    if order.namespaces:
        layers.attempt("read-only mounts", _mount_read_only)
        layers.attempt("private scratch folder", partial(_mount, order, limits.scratch_bytes))
    writable = [order.scratch, _SHARED_MEMORY]
    layers.attempt("Landlock", partial(landlock.restrict, order.readable, order.hidden, writable))
    layers.attempt("no answer key", partial(own_files.try_them, order.hidden))
    layers.attempt("no capabilities", _drop_capabilities)
    layers.attempt("seccomp", partial(seccomp.restrict, "read-only mounts" in layers.in_force))
    return layers


def _mount_read_only() -> list[str]:
    kernel.make_mounts_read_only()
    return ["read-only mounts"]


def _mount(order: Order, size: int) -> list[str]:
    for folder in (order.scratch, _SHARED_MEMORY):
        namespaces.mount_memory(folder, size)
    for folder in ("/proc", *filter(os.path.isdir, order.hidden)):
        namespaces.hide(folder)
    return ["private scratch folder", "empty /proc"]


def _drop_capabilities() -> list[str]:
    kernel.drop_capabilities()
    return ["no capabilities"]
