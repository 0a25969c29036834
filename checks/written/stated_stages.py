"""Each stage in the report: is the shape that is stated for it right, and is it the one of their code?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from ...reference.sizes import Sizes
from ...reference.stages import STAGES, Stage, stage
from ..record.result import StageResult
from ..record.written_result import SnapshotOutcome, SnapshotResult
from .sections import Section
from .stated_shapes import Shape, shapes_in

_MANY = 4  # wrong shapes beside the right one: so many are no statement of one
_PLACES = 40  # in which one stage is shown; more are somebody's joke
_MOST = 12  # shapes of one stage that are looked at
_TEXT = 80  # characters of a shape that are kept

_Axes = tuple[Sequence[int], Sequence[str]]  # the size of each axis, and its letter


def snapshots(
    sections: Sequence[Section],
    sizes: Sizes,
    label_sets: Sequence[Mapping[str, Sequence[str]]],
    stages: Mapping[str, StageResult],
    unread: Sequence[str],
) -> dict[str, SnapshotResult]:
    """Judge every stage by label; ``stages`` are those of the code, ``unread`` names reports."""
    found: dict[str, SnapshotResult] = {}
    for row in STAGES:
        keys = dict.fromkeys(key for one in label_sets for key in one[row.label])
        about = [one for one in sections if row.label in one.labels]
        one = _Snapshot([stage(key) for key in keys], about, sizes)
        found[row.label] = one.result(stages.get(row.label), unread)
    return found


class _Snapshot:
    """One stage in the report."""

    def __init__(self, rows: Sequence[Stage], about: Sequence[Section], sizes: Sizes) -> None:
        self._wanted = [(one.shape(sizes), one.axes.split()) for one in rows]
        self._grid = sizes.grid
        stated = [(one, shapes_in(one.text, sizes)[:_MOST]) for one in about[:_PLACES]]
        by_label = [(one, shapes) for one, shapes in stated if one.labelled]
        self._stated = by_label if any(shapes for _, shapes in by_label) else stated

    def result(self, code: StageResult | None, unread: Sequence[str]) -> SnapshotResult:
        """Say how it stands, why, and where."""
        outcome, reason, stated = self._outcome(unread)
        agrees = None
        if stated and code is not None and code.shape is not None:
            agrees = any(one.fits(code.shape, code.axes.split()) for one in stated)
        places = [one for one, shapes in self._stated if shapes] + [one for one, _ in self._stated]
        return SnapshotResult(
            outcome=outcome,
            reason=reason,
            stated=list(dict.fromkeys(one.text[:_TEXT] for one in stated)),
            expected_shape=list(self._wanted[0][0]),
            agrees_with_code=agrees,
            where=next((one.where for one in places), None),
        )

    def _outcome(self, unread: Sequence[str]) -> tuple[SnapshotOutcome, str, list[Shape]]:
        every = [one for _, shapes in self._stated for one in shapes]
        right = [one for one in every if self._is_right(one)]
        sure = [one for section, shapes in self._stated if section.sure for one in shapes]
        wrong = [one for one in sure if self._is_statement(one) and not self._is_right(one)]
        other = [one for one in every if self._is_other_order(one)]
        if right and len({one.text for one in wrong}) > _MANY:
            return (
                SnapshotOutcome.UNCLEAR,
                "there are too many shapes to tell which one is meant",
                [*right, *wrong],
            )
        if right:
            return SnapshotOutcome.RIGHT, "", right
        if other:
            return SnapshotOutcome.UNCLEAR, "the axes are in another order, or one is missing", other
        if wrong:
            return SnapshotOutcome.WRONG, "", wrong
        return (*self._without_shape(bool(every), unread), every)

    def _without_shape(self, some: bool, unread: Sequence[str]) -> tuple[SnapshotOutcome, str]:
        if some:
            return SnapshotOutcome.UNCLEAR, "what is there is not the shape of the whole tensor"
        if any(one.pictured for one, _ in self._stated):
            return SnapshotOutcome.UNCLEAR, "there is a picture, and pictures are not read"
        if unread:
            return SnapshotOutcome.NOT_FOUND, f"it may be in {', '.join(unread)}, which could not be read"
        if self._stated:
            return SnapshotOutcome.NOT_FOUND, "it is mentioned, without a shape"
        return SnapshotOutcome.NOT_FOUND, "it is not in the report"

    def _is_right(self, shape: Shape) -> bool:
        return any(shape.fits(*wanted) for wanted in self._wanted)

    def _is_statement(self, shape: Shape) -> bool:
        """A smaller one is a size that is talked of, such as that of a patch; one half known is no claim."""
        least = min(3, *(len(sizes) for sizes, _ in self._wanted))
        return len(shape.axes) >= least and all(shape.axes)

    def _is_other_order(self, shape: Shape) -> bool:
        return any(shape.fits(*axes) for wanted in self._wanted for axes in _rearranged(wanted, self._grid))


def _rearranged(wanted: _Axes, grid: tuple[int, int]) -> Iterator[_Axes]:
    """The same axes in any order, without that of images, and with patches as rows and columns."""
    pairs = list(zip(*wanted))
    forms = [pairs, [one for one in pairs if one[1] != "B"]]
    if ("N" in wanted[1]) and len(pairs) < 6:
        split = [(size, letter) for size, letter in pairs if letter != "N"]
        forms.append([*split, (grid[0], "rows"), (grid[1], "columns")])
    for form in forms:
        for order in permutations(form):
            yield tuple(zip(*order))  # type: ignore[misc]  # mypy does not know how many
