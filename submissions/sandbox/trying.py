"""Trying every lock once, in a process that is then thrown away.

Run as ``python -m vitcheck.submissions.sandbox.trying ORDER``, it prints what came of it. Nothing else tells
whether a lock works: not the kernel's version, and not its settings.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import asdict, replace

from ..limits import Limits
from . import namespaces
from .confining import Layers, Order, confine, prepare


def main() -> None:
    """Try with namespaces, and where they are refused without."""
    prepare()
    order = Order(**json.loads(sys.argv[1]))
    try:
        layers = _tried(order)
    except _RefusedError as refused:
        layers = _tried(replace(order, namespaces=False))
        layers.missing["namespaces"] = str(refused)
    print(json.dumps(asdict(layers)))


class _RefusedError(Exception):
    pass


def _tried(order: Order) -> Layers:
    """What is in force in a child that has done all as a submission's would."""
    readable, writable = os.pipe()
    if os.fork() == 0:
        os.write(writable, json.dumps(_enter_and_confine(order)).encode())
        os._exit(0)
    os.close(writable)
    with open(readable, "rb") as report:
        found = json.loads(report.read())
    if "refused" in found:
        raise _RefusedError(found["refused"])
    return Layers(**found)


def _enter_and_confine(order: Order) -> dict[str, object]:
    if order.namespaces:
        try:
            namespaces.enter()
        except OSError as error:
            return {"refused": error.strerror}
        if pid := os.fork():
            os.waitpid(pid, 0)
            os._exit(0)
    return asdict(confine(Limits(), order))


if __name__ == "__main__":
    main()
