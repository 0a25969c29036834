"""How far a class is: a line for each submission, and on a terminal a live view below the lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from vitcheck.checks.classes.many import Watch
from vitcheck.checks.record.result import Result
from vitcheck.reports.words.alike import skeleton, spelled_out
from vitcheck.reports.words.standing import standing
from vitcheck.reports.words.text import NAME_LIMIT, one_line, points
from vitcheck.reports.words.wording import count

_SIGNS = {
    "right": ("✓", "green"),
    "unfinished": ("○", "yellow"),
    "wrong": ("✗", "red"),
    "stopped": ("!", "yellow"),
}


class ClassProgress(Watch):
    """Watches a run, as a context manager. Where output is no terminal, the lines are all there is."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, soft_wrap=True)
        self._bar = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[waiting]} waiting"),
            _Rate(),
            TimeRemainingColumn(),
            console=self._console,
        )
        self._running: set[str] = set()
        self._shown: dict[str, str] = {}  # by what they look like
        self._stopped: list[str] = []
        self._tones: Counter[str] = Counter()
        self._live = Live(get_renderable=self._view, console=self._console, transient=True)

    def __enter__(self) -> ClassProgress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def start(self, waiting: int, taken: int) -> None:
        """Say how many are taken from the gradebook; the rate and the time left are of the others."""
        self._task = self._bar.add_task("", total=waiting, waiting=waiting)
        if taken:
            self._console.print(
                f"{count(taken, 'submission')} unchanged and taken from the gradebook (--force grades anew)"
            )

    def begun(self, name: str) -> None:
        """Show it among those that are being graded."""
        self._running.add(name)
        self._count()

    def done(self, result: Result) -> None:
        """Print its line."""
        stands = standing(result)
        sign, style = _SIGNS[stands.tone]
        score = f"{points(result.score.earned):>6} of {points(result.score.possible)}"
        name = one_line(self._apart(result.submission), NAME_LIMIT)
        brief = f"  {stands.brief}" if stands.brief else ""
        line = Text.assemble((sign, style), f" {score}  ", (name, "bold"), brief, overflow="ellipsis")
        # a terminal would go on with words of the student in the next row
        self._console.print(line, no_wrap=True, soft_wrap=not self._console.is_terminal)
        self._running.discard(result.submission)
        if stands.tone == "stopped":
            self._stopped.append(result.submission)
        self._tones[stands.tone] += 1
        self._count(advance=1)

    def taken(self, result: Result) -> None:
        """Count it for the summary."""
        self._tones[standing(result).tone] += 1

    def summary(self) -> str:
        """How many there are of each kind."""
        unfinished = f" {self._tones['unfinished']} unfinished," if self._tones["unfinished"] else ""
        return (
            f"{count(self._tones.total(), 'submission')}: {self._tones['right']} right,{unfinished}"
            f" {self._tones['wrong']} with something wrong, {self._tones['stopped']} that could not be graded"
        )

    def _apart(self, name: str) -> str:
        """Spelled out if it looks like one that was shown before."""
        shown = self._shown.setdefault(skeleton(name), name)
        return name if shown == name else spelled_out(name)

    def _count(self, advance: int = 0) -> None:
        self._bar.advance(self._task, advance)
        (task,) = self._bar.tasks
        waiting = int(task.remaining or 0) - len(self._running)
        self._bar.update(self._task, waiting=waiting)

    def _view(self) -> RenderableType:
        running = sorted(self._running)  # a copy at once, since this is another thread
        return Group(self._bar, *_names("grading", running), *_names("not graded:", self._stopped))


class _Rate(ProgressColumn):
    """Submissions a minute, lately."""

    def render(self, task: Task) -> Text:
        return Text(f"{60 * task.speed:.0f} a minute" if task.speed else "")


def _names(what: str, names: Iterable[str]) -> Iterator[Text]:
    """A line, if there are any."""
    listed = ", ".join(one_line(name, NAME_LIMIT) for name in names)
    if listed:
        yield Text(f"{what} {listed}", style="dim", no_wrap=True, overflow="ellipsis")
