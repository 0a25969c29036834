"""What figures are made of: everything is computed here, and a template draws it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Legend:
    """A scale of colours: of what, its picture, and the numbers at its ends."""

    title: str
    ramp: str
    low: str
    high: str


@dataclass(frozen=True)
class Bar:
    """A number as a bar between two places in per cent of the width."""

    label: str
    text: str
    start: float
    length: float
    below: bool = False


@dataclass(frozen=True)
class Number:
    """A text at a place of a map, in cells."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Map:
    """Cells as pixels of ``image``, shown ``cell`` wide, over ``under`` where there is such a picture.

    ``axes`` are what its rows and its columns are, ``cells`` its numbers in reading order where they are few
    enough to be read one by one, ``sums`` bars beside its rows.
    """

    title: str
    description: str
    image: str
    columns: int
    rows: int
    cell: float
    sums: tuple[Bar, ...] = ()
    unit: float = 0.0  # where 1 stands among the sums, in per cent
    ruled: int = 0  # cells between lines, 0 for none
    numbers: tuple[Number, ...] = ()
    marked: tuple[int, int] | None = None  # row and column
    under: str = ""
    axes: tuple[str, str] | None = None
    cells: str = ""

    @property
    def width(self) -> float:
        return self.columns * self.cell

    @property
    def height(self) -> float:
        return self.rows * self.cell


@dataclass(frozen=True)
class PlotLine:
    """Points in per cent of a plot, from its upper left corner; ``style`` names how they are drawn."""

    label: str
    style: str
    points: tuple[tuple[float, float], ...]

    @property
    def path(self) -> str:
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass(frozen=True)
class Tick:
    """A number on an axis of a plot, in per cent of its length."""

    at: float
    text: str


@dataclass(frozen=True)
class Plot:
    """Lines over two axes."""

    title: str
    description: str
    x: str
    lines: tuple[PlotLine, ...]
    x_ticks: tuple[Tick, ...]
    y_ticks: tuple[Tick, ...]
    scattered: bool = False  # what was seen is points without lines between them

    @property
    def styles(self) -> tuple[tuple[str, str], ...]:
        """Labels and styles for the legend, each once."""
        return tuple(dict.fromkeys((line.label, line.style) for line in self.lines))


@dataclass(frozen=True)
class Bin:
    """How many numbers lie between two; ``height`` is in per cent of the fullest bin."""

    count: int
    height: float


@dataclass(frozen=True)
class Histogram:
    """Bins of one width side by side; ``ticks`` are their edges."""

    description: str
    bins: tuple[Bin, ...]
    ticks: tuple[str, ...]


@dataclass(frozen=True)
class Panels:
    """Maps side by side, and below them their scales."""

    maps: tuple[Map, ...]
    legends: tuple[Legend, ...] = ()

    @property
    def is_read(self) -> bool:
        """Whether all maps have numbers to be read, of the same places."""
        return (
            all(one.cells for one in self.maps) and len({(one.rows, one.columns) for one in self.maps}) == 1
        )


@dataclass(frozen=True)
class Figure:
    """A figure with the sentence that explains it; it has panels, plots or bars."""

    title: str
    sentence: str
    note: str = ""
    panels: tuple[Panels, ...] = ()
    plots: tuple[Plot, ...] = ()
    bars: tuple[Bar, ...] = ()

    @property
    def is_wide(self) -> bool:
        """Whether what is compared stands side by side in it."""
        return any(len(one.maps) > 2 for one in self.panels)
