"""The result record as people see it who work in Python: short in a terminal, drawn in a notebook."""

from __future__ import annotations

from io import StringIO

import numpy as np
import numpy.typing as npt
from pydantic import Field
from rich.console import Console, RenderableType

from vitcheck.checks.record import result as records
from vitcheck.checks.record.snapshot import Snapshot

_WIDTH = 120  # of lines, in characters: a trace is a table


class Result(records.Result):
    """What grading one submission came to: plain data, with a verdict as its text and a drawing in notebooks.

    ``shown_stage`` is the label of the stage that was asked about; the record is of all that was graded.
    """

    shown_stage: str | None = Field(default=None, exclude=True, repr=False)

    @classmethod
    def of(cls, record: records.Result, shown_stage: str | None = None) -> Result:
        """The same record."""
        return cls(**dict(record), shown_stage=shown_stage)

    def __repr__(self) -> str:
        from vitcheck.reports.pages.notebook_cell import elsewhere
        from vitcheck.reports.terminal import verdict
        from vitcheck.stage_text import stage_text

        if self.shown_stage is None:
            return _text(verdict(self))
        return _text(stage_text(self, self.shown_stage), elsewhere(self, self.shown_stage))

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from vitcheck.reports.pages.notebook_cell import render_for_notebook

        return render_for_notebook(self, self.shown_stage)


class Trace(Snapshot):
    """What one picture becomes at every stage of a submission: plain data, with a table as its text."""

    @property
    def tensors(self) -> dict[str, npt.NDArray[np.float64]]:
        """The student's tensor of each stage that was seen, by label, of the one image, without the batch.

        Of tensors with more than 8,192 numbers it is the first 32 along each axis; ``stages[label].shape`` is
        that of all of it.
        """
        from vitcheck.reports.figures.kept import Arrays

        return {label: one.student for label, one in Arrays.read(self.arrays).stages.items()}

    def __repr__(self) -> str:
        from vitcheck.reports.snapshot_table import snapshot_table

        return _text(snapshot_table(self))

    __str__ = __repr__


def _text(*shown: RenderableType) -> str:
    """Without colours, whatever this runs in."""
    text = StringIO()
    Console(file=text, width=_WIDTH, highlight=False, color_system=None, force_jupyter=False).print(
        *shown, sep="\n\n"
    )
    return text.getvalue().rstrip()
