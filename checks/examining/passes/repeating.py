"""Do further blocks run the very operations of those before them, on what these gave?

Then what was located in three blocks holds in all of them, and nothing need be located again.
"""

from __future__ import annotations

from ....submissions.host.trace import Reference, Trace, Value


def goes_on(short: Trace, long: Trace, more: int) -> bool:
    """Is ``long`` the pass of ``short`` with ``more`` blocks put in, each repeating the one before it?"""
    period, rest = divmod(len(long.records) - len(short.records), more)
    if rest or period <= 0 or short.error is not None or long.error is not None:
        return False
    pairs = enumerate(zip(short.records, long.records))
    same = next((at for at, (a, b) in pairs if not _alike(a, b)), len(short.records))
    # what follows the blocks may begin as a block does
    starts = range(same, max(same - period, period) - 1, -1)
    return any(_put_in(short, long, start, period, more) for start in starts)


def _put_in(short: Trace, long: Trace, start: int, period: int, more: int) -> bool:
    """Do the blocks that were put in begin at ``start``?"""
    shift = more * period
    return (
        all(_repeats(long, at, period) for at in range(start, start + shift))
        and all(_alike(a, b) for a, b in zip(short.records[start:], long.records[start + shift :]))
        and all(
            _ends_alike(one, other, start - period, shift)
            for a, b in zip(short.records[start:], long.records[start + shift :])
            for one, other in zip(a.inputs, b.inputs)
        )
        and _weights_are_new(long, range(start - period, start + shift), period)
    )


def _alike(one: Value, other: Value) -> bool:
    """Is it the same operation on tensors of the same shapes?"""
    shapes = [[(read.kind, read.shape, read.strides) for read in value.inputs] for value in (one, other)]
    return shapes[0] == shapes[1] and (one.op, one.scalars, one.shape) == (
        other.op,
        other.scalars,
        other.shape,
    )


def _repeats(trace: Trace, at: int, period: int) -> bool:
    """Is it the operation of one period before, on what that read, a period later?"""
    before, now = trace.records[at - period], trace.records[at]
    return _alike(before, now) and all(
        _follows(trace, a, b, period) for a, b in zip(before.inputs, now.inputs)
    )


def _follows(trace: Trace, before: Reference, now: Reference, period: int) -> bool:
    if now.kind == "leaf":
        return trace.value(before).kind == trace.value(now).kind
    fixed = now.number == before.number and not trace.value(now).image  # such as a mask for all blocks
    return now.offset == before.offset and (fixed or now.number == before.number + period)


def _ends_alike(short: Reference, long: Reference, last: int, shift: int) -> bool:
    """Does what follows the blocks read the same: of the last block, or from before all of them?"""
    if short.kind == "leaf":
        return True
    return long.number == short.number + (shift if short.number >= last else 0)


def _weights_are_new(trace: Trace, places: range, period: int) -> bool:
    """Does no block read a parameter that another one reads?"""
    seen: set[tuple[int, int]] = set()
    for start in range(places.start, places.stop, period):
        records = trace.records[start : start + period]
        read = {
            (one.number, one.offset)
            for record in records
            for one in record.inputs
            if one.kind == "leaf" and trace.value(one).kind == "parameter"
        }
        if read & seen:
            return False
        seen |= read
    return True
