"""Where ``vitcheck check`` shows a result."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from vitcheck.checks.record.result import Result, StageStatus
from vitcheck.reports.terminal import verdict
from vitcheck.reports.words.standing import standing
from vitcheck.stage_text import stage_text


@dataclass(frozen=True)
class CheckOutput:
    """The terminal and the files that are asked for; with ``key``, all is about that stage alone."""

    key: str | None
    html: Path | None
    json: Path | None

    def write(self, result: Result, refresh_seconds: int | None = None) -> None:
        """Write the files; the page loads itself again so often."""
        if not self.html and not self.json:
            return
        from vitcheck.reports.pages.html import render_report  # loads NumPy, which the terminal needs not
        from vitcheck.reports.writer import write_whole

        if self.html:
            write_whole(self.html, render_report(result, refresh_seconds=refresh_seconds).encode())
        if self.json:
            write_whole(self.json, result.to_json().encode())

    def print(self, result: Result) -> None:
        label = self._label(result)
        Console(highlight=False).print(stage_text(result, label) if label else verdict(result))

    def is_wrong(self, result: Result) -> bool:
        """Whether the stage is, or without one anything."""
        if label := self._label(result):
            return result.stages[label].status not in (
                StageStatus.PASSED,
                StageStatus.NOT_APPLICABLE,
            )
        return standing(result).tone != "right"

    def _label(self, result: Result) -> str | None:
        return next((label for label, one in result.stages.items() if one.key == self.key), None)
