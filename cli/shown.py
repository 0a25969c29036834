"""The result record as people see it who work in Python: short in a terminal, drawn in a notebook."""

from __future__ import annotations

from io import StringIO

from pydantic import Field

from vitcheck.checks import result as records

_WIDTH = 100  # of text that is no terminal's own


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
        from rich.console import Console

        from vitcheck.reports.notebook import elsewhere
        from vitcheck.reports.terminal import verdict
        from vitcheck.stage_text import stage_text

        text = StringIO()
        console = Console(file=text, width=_WIDTH, highlight=False, color_system=None, force_jupyter=False)
        if self.shown_stage is None:
            console.print(verdict(self))
        else:
            console.print(stage_text(self, self.shown_stage), elsewhere(self, self.shown_stage), sep="\n\n")
        return text.getvalue().rstrip()

    __str__ = __repr__

    def _repr_html_(self) -> str:
        from vitcheck.reports.notebook import render_for_notebook

        return render_for_notebook(self, self.shown_stage)
