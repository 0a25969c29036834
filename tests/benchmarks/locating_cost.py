"""What it costs to locate all stages of a correct program, and to replay them on a further pass."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from math import nan
from statistics import median
from time import process_time

from common import show
from corpus import BASES
from tracing_helpers import sizes_of, trace_of

from vitcheck.checks.examining.passes.replay import ReplayError, replay
from vitcheck.checks.locating.locate import locate
from vitcheck.checks.vit.vit_family import VIT

_RUNS = 5
_HEAD = ("base", "records", "values", "look-ups", "locate, ms", "replay, ms", "replay ÷ locate")


def milliseconds(work: Callable[[], object]) -> float:
    """Processor time, median of several runs."""
    times = []
    for _ in range(_RUNS):
        began = process_time()
        work()
        times.append(process_time() - began)
    return 1000 * median(times)


def numbers(name: str) -> tuple[float, ...]:
    """The further pass has a batch of three and other weights; of neither anything is known before."""
    sizes = sizes_of(name)
    more = replace(sizes, batch=3)
    trace, further = trace_of(name, sizes), trace_of(name, more, 1)
    first = milliseconds(lambda: locate(replace(trace), sizes, VIT))
    walk = locate(trace, sizes, VIT)
    later = nan
    with suppress(ReplayError):  # loops over images run other operations: those are located afresh
        later = milliseconds(lambda: replay(walk, replace(further), more))
    values = sum(one.cells.numel() for one in trace.records)
    return len(trace.records), values, walk.places.look_ups, first, later, later / first


def main() -> None:
    """Print the table, slowest first, and the medians."""
    rows = {name: numbers(name) for name in BASES}
    slowest_first = sorted(rows, key=lambda name: -rows[name][3])
    columns = [[one for one in column if one == one] for column in zip(*rows.values(), strict=True)]
    middle = [median(column) for column in columns]  # of those that are replayed
    show(_HEAD, [*((name, *rows[name]) for name in slowest_first), ("median", *middle)])


if __name__ == "__main__":
    main()
