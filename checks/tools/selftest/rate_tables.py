"""The rates of generated programs as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .corpus_counts import share
from .kept_rows import GradedProgram
from .published import Published
from .rates import Rate, causes, rates

CAUSES = 20


def rate_lines(rows: Sequence[GradedProgram], published: Published | None = None) -> Iterator[str]:
    """A table for each kind that there are programs of, beside what was published."""
    for kind, own in rates(rows).items():
        made = sum(row.program.kind == kind for row in rows)
        if made:
            last = f" {published.version}, {published.date} |" if published else ""
            yield from ("", f"| {made} {kind} | programs | of | share |{last}")
            yield "| --- | ---: | ---: | ---: |" + (" ---: |" if published else "")
            yield from (_line(kind, one, published) for one in own)


def _line(kind: str, rate: Rate, published: Published | None) -> str:
    cells = [rate.measure.name, str(rate.count), str(rate.total), share(rate.count, rate.total)]
    if published is not None:
        cells.append(share(*(published.of(kind, rate) or (0, 0))))
    return "| " + " | ".join(cells) + " |"


def cause_lines(rows: Sequence[GradedProgram]) -> Iterator[str]:
    """What went wrong most often, with some programs each."""
    yield from ("", "What went wrong most often:", "")
    for cause, names in causes(rows)[:CAUSES]:
        yield f"- {len(names)} {cause} ({', '.join(names[:3])})"
