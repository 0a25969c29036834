"""What keeps submissions apart from all else on this machine: what is asked for, and what there is."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from enum import Enum

from ..launching import command, environment
from .bubblewrap import SCRATCH, version, wrapping
from .confining import Layers, Order
from .paths import Paths, find_paths

_SECONDS = 60.0  # to try everything, which takes a quarter of one: a cold disk may have to find Python first
_COVERED_BY = {  # any of these, by the beginning of its name
    "the network": ("bubblewrap", "namespaces", "seccomp"),
    "files": ("bubblewrap", "Landlock ABI"),
    "other processes": ("bubblewrap", "namespaces", "Landlock signal scope"),
    "the answer key": ("no answer key",),
    "more memory and time than they are given": ("memory limit",),
}


class Isolation(str, Enum):
    """What is asked for: what works, all or nothing, or limits alone."""

    AUTO = "auto"
    REQUIRE = "require"
    NONE = "none"


class IsolationError(Exception):
    """What is required cannot be had on this machine; the text says what, why, and what helps."""


@dataclass(frozen=True)
class Sandbox:
    """What works on this machine, found by trying. Plain data, for workers on the same machine."""

    wrapping: tuple[str, ...]  # the beginning of a command line, empty without bubblewrap
    outer: tuple[str, ...]  # the names of what that puts in force
    inner: tuple[str, ...]  # the names of what a child puts in force itself
    missing: tuple[tuple[str, str], ...]  # what is not in force, and why
    readable: tuple[str, ...]
    hidden: tuple[str, ...]  # of these, from a submission
    namespaces: bool

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of all that is in force."""
        return self.outer + self.inner

    @property
    def serves_once(self) -> bool:
        """Whether children of one bubblewrap could see each other, so that each needs its own."""
        return bool(self.wrapping) and not self.namespaces

    @property
    def order(self) -> Order:
        """What a child is told; outside bubblewrap the scratch folder is another one each time."""
        return Order(SCRATCH, self.readable, self.hidden, self.namespaces)


def open_sandbox(isolation: Isolation) -> Sandbox | None:
    """Try what this machine can do, in a quarter of a second; None where limits alone are to be in force.

    Raises IsolationError where something is required that cannot be had.
    """
    if isolation is Isolation.NONE:
        return None
    sandbox = _found() if sys.platform == "linux" else _NOTHING
    if isolation is Isolation.REQUIRE and (open_ := _uncovered(sandbox.layers)):
        why = "; ".join(f"{name}: {reason}" for name, reason in sandbox.missing)
        raise IsolationError(
            f"this machine does not keep submissions from {' and '.join(open_)} ({why}). Change that, or"
            " grade only what you would run yourself, with --isolation auto"
        )
    return sandbox if sandbox.layers else None


_NOTHING = Sandbox((), (), (), (("sandbox", "there is one on Linux only"),), (), (), False)


def _uncovered(layers: tuple[str, ...]) -> list[str]:
    return [what for what, by in _COVERED_BY.items() if not any(one.startswith(by) for one in layers)]


def _found() -> Sandbox:
    """Inside bubblewrap if that works, and else without."""
    paths = find_paths()
    try:
        start = wrapping(paths.readable)
        layers = _try(start, SCRATCH, paths)
        outer: tuple[str, ...] = (version(start[0]),)
        missing = layers.missing
    except OSError as error:
        start, outer = [], ()
        with tempfile.TemporaryDirectory(prefix="vitcheck-") as scratch:
            layers = _try(start, scratch, paths)
        missing = {"bubblewrap": str(error), **layers.missing}
    return Sandbox(
        wrapping=tuple(start),
        outer=outer,
        inner=tuple(layers.in_force),
        missing=tuple(missing.items()),
        readable=tuple(paths.readable),
        hidden=tuple(paths.hidden),
        namespaces="namespaces" in layers.in_force,
    )


def _try(start: list[str], scratch: str, paths: Paths) -> Layers:
    """Raises OSError with the last line of what a command that does not start says."""
    order = json.dumps(asdict(Order(scratch, paths.readable, paths.hidden, namespaces=True)))
    run = subprocess.run(
        [*start, *command(f"{__package__}.trying", order)],
        cwd="/",
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    if run.returncode:
        raise OSError(run.stderr.strip().rpartition("\n")[2] or f"it ended with {run.returncode}")
    return Layers(**json.loads(run.stdout))
