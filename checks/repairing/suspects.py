"""Which small changes of a program are tried first: those of what ran where the pass went wrong."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, pairwise, takewhile

from ...submissions.errors import Frame
from ...submissions.host.trace import Value
from ...submissions.reading.code import parsed, texts
from ...submissions.reading.code_scopes import bound_for, stored_for
from ...submissions.reading.edits.edit import Edit, Kind
from ...submissions.reading.edits.every_edit import edits
from ..examining.block_lines import built_at, chained_at
from ..examining.examination import Examination
from ..locating.steps import Step
from .held_names import HeldNames

_PRICES: Mapping[Kind, int] = {  # what people slip in most, and what there are fewest of, comes first
    "operator": 0, "kept": 0, "overwritten": 0, "loop": 0, "repeated": 0, "option": 0,
    "outside": 1, "condition": 1, "order": 1, "brackets": 1, "turned": 2, "number": 2, "argument": 2,
    "lines": 3, "extra": 4, "layer": 4, "variable": 5, "missing": 12,
}  # fmt: skip
_STEP = 10  # the price of a step that is left out, of which there are few; of what is added there is much
_TELLING = 2  # the price of what uses what nothing uses, less how telling it is
_THROWN_AWAY = -100  # the price of using what is computed for nothing: wherever it stands, it is a slip
_RECORDS = 3  # later in the pass, which is as unlikely as a step of these prices
_OUTER = 2  # records, for each call between a line and the operation
_VIEWED = -0.1  # for a line that reads its numbers in another order, and computes none
_NEAR = 2  # records, for each line between one that ran and one that did not
_BUILT = 4  # records by which a line that builds what is wrong comes behind one that calls it
_RAISED = 15  # records by which a line that is to blame for what it does comes before what ran
_PROVEN = 30  # records, for a line that has made a stage, or what one is made of, that is right
_MOST = 50_000  # changes of a submission: programs of a course have some 500


def suspects(examination: Examination, held: HeldNames, *, anywhere: bool = False) -> list[Edit]:
    """The small changes of the submission that make sense by what its names hold, the likeliest first.

    Where no stage is wrong, they are as likely anywhere.
    """
    every = (one for file, text in texts(examination.source.files) for one in edits(file, text))
    found = ((one, price) for one in islice(every, _MOST) if (price := held.price(one)) is not None)
    wrong = None if anywhere else _first_wrong(examination)
    built = () if wrong is None else built_at(examination, wrong)
    ran = {} if anywhere else _with_stored(examination, _ran(examination))
    far = _Distances(ran, set(built))
    prices = {one: far.of(one.file, one.line) / _RECORDS + _price(one) + more for one, more in found}
    return sorted(prices, key=lambda one: prices[one])


def _price(edit: Edit) -> int:
    if edit.telling:
        return _THROWN_AWAY if edit.kind == "kept" else _TELLING - edit.telling
    return _STEP if edit.kind == "missing" and not edit.name else _PRICES[edit.kind]


def _ran(examination: Examination) -> dict[tuple[str, int], float]:
    """By line, how late it was first at work on what no right stage is made from.

    What right stages are made from comes after all that, the latest first.
    """
    records, right = examination.walk.trace.records, _right(examination)
    rest = [number for number in _operations(records) if number not in right]
    found: dict[tuple[str, int], float] = {}
    for place, frame in enumerate(_blamed(examination)):
        found.setdefault((frame.file, frame.line), float(place) - _RAISED)
    proven = {records[number].frames[:1] for number in right}
    used = examination.walk.trace.returned_from or set(rest)  # a pass that raises returns nothing
    first = [one for one in rest if one in used][:2]  # with the lines that call what made them
    proven -= {(frame,) for number in first for frame in records[number].frames}
    for later, number in enumerate((*rest, *sorted(right - {0}, reverse=True)), 1):
        calls = enumerate(records[number].frames)
        for outer, frame in (*((_VIEWED, view) for view in records[number].views[:1]), *calls):
            far = later + _OUTER * outer + _PROVEN * ((frame,) in proven)
            found.setdefault((frame.file, frame.line), far)
    return found


def _with_stored(
    examination: Examination, ran: Mapping[tuple[str, int], float]
) -> Mapping[tuple[str, int], float]:
    """With the lines that store what is read of ``self`` on those that ran."""
    found = dict(ran)
    for file, tree in parsed(examination.source.files):
        for line, stored in stored_for(tree):
            if (file, line) in ran:
                far = ran[file, line] + _OUTER
                found[file, stored] = min(far, found.get((file, stored), far))
    return found


def _operations(records: Sequence[Value]) -> list[int]:
    """One record of each, since some give several tensors."""
    return [one.number for before, one in pairwise(records) if not one.is_made_with(before)]


def _right(examination: Examination) -> set[int]:
    """The records that the stages before the first wrong one are made from."""
    walk = examination.walk
    wrong = _first_wrong(examination)
    before = takewhile(lambda one: one is not wrong, walk.steps)
    made = {number for step in before for number in _records(step)} - _records(wrong)
    return set().union(*(walk.trace.ancestors(walk.trace.records[number].reference) for number in made))


def _first_wrong(examination: Examination) -> Step | None:
    return next(filter(examination.is_amiss, examination.walk.steps), None)


def _records(step: Step | None) -> set[int]:
    return {*step.found.records} if step and step.found else set()


def _blamed(examination: Examination) -> Iterator[Frame]:
    """The lines that raised an exception, and those that bind what they read.

    Where none did, those where blocks are put one behind the other, if that is wrong.
    """
    if examination.crash is not None:
        trees = dict(parsed(examination.source.files))
        for frame in examination.crash.frames:
            bound = bound_for(trees[frame.file], frame.line) if frame.file in trees else []
            yield from (frame, *(frame._replace(line=line) for line in bound))
    elif (wrong := _first_wrong(examination)) is not None:
        yield from chained_at(examination, wrong)


class _Distances:
    """How far a line is from where the pass went wrong, or the nearest line that ran."""

    def __init__(self, ran: Mapping[tuple[str, int], float], built: Collection[Frame]) -> None:
        self.ran, self.built = ran, built
        self.lines: dict[str, list[int]] = {}
        for file, line in sorted(ran):
            self.lines.setdefault(file, []).append(line)

    def of(self, file: str, line: int) -> float:
        if (file, line) in self.built:
            return _BUILT - _RAISED
        lines = self.lines.get(file, [])
        place = bisect(lines, line)
        near = lines[max(place - 1, 0) : place + 1]
        return min(
            (self.ran[file, one] + _NEAR * abs(one - line) for one in near), default=float(len(self.ran))
        )
