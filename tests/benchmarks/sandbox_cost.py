"""What the sandbox costs a submission: its start, its memory and its end, beside limits alone."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from common import show

from vitcheck.submissions.errors import SubmissionError
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.limits import Limits
from vitcheck.submissions.sandbox.isolation import Isolation, open_sandbox

_ROUNDS = 6
_HANDLERS = "hostile:HANDLERS"
_LIMITS = Limits()
_FORKS = "import os, time\nfor _ in range(59):\n    if os.fork() == 0: time.sleep(60)\nvalue = None"


@dataclass
class Way:
    """A way to have a child, and what each round took."""

    name: str
    zygote: Zygote
    prepare: Callable[[Zygote], None]
    columns: dict[str, list[float]] = field(default_factory=dict)

    def measure(self) -> None:
        """Have a child, ask it something, and end it; and once more with sixty processes."""
        self.prepare(self.zygote)
        began = time.perf_counter()
        child = self.zygote.child(_LIMITS, handlers=_HANDLERS)
        self._note("start, ms", began)
        with child:
            child.request({"request": "double"})
            self._note("first answer, ms", began)
            self.columns.setdefault("private, MB", []).append(_private(child) / 2**20)
            began = time.perf_counter()
        self._note("end, ms", began)
        with self.zygote.child(_LIMITS, handlers=_HANDLERS) as child:
            with suppress(SubmissionError):
                child.request({"request": "evaluate", "source": _FORKS})
            began = time.perf_counter()
        self._note("end of 60 processes, ms", began)

    def _note(self, column: str, began: float) -> None:
        self.columns.setdefault(column, []).append(1000 * (time.perf_counter() - began))


def _private(child: Child) -> int:
    """Bytes that a child shares with no other process, and that nothing else would have to hold."""
    return sum(one.memory_full_info().uss for one in child._tree.processes())


def main() -> None:
    """Print the least of the rounds, since whatever else the machine does only adds to it."""
    os.environ["PYTHONPATH"] = str(Path(__file__).parents[1] / "submissions")
    sandbox = open_sandbox(Isolation.REQUIRE)
    with Zygote() as bare, Zygote((), sandbox) as locked:
        ways = [
            Way("limits alone", bare, lambda zygote: None),
            Way("every layer, made when asked for", locked, lambda zygote: zygote._drop_ahead()),
            Way("every layer, forked ahead", locked, lambda zygote: time.sleep(0.3)),
        ]
        for _ in range(_ROUNDS):
            for way in ways:
                way.measure()
    least = [[min(values) for values in way.columns.values()] for way in ways]
    show(
        ("", *ways[0].columns, "start ÷ limits alone"),
        [(way.name, *row, row[0] / least[0][0]) for way, row in zip(ways, least, strict=True)],
    )


if __name__ == "__main__":
    main()
