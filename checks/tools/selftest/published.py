"""The rates that were published last, and which have fallen since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from .chance import fell
from .rates import MEASURES, Rate

PUBLISHED = "generated/published.json"  # in a corpus
_TESTED = sum(bool(one.better) for measures in MEASURES.values() for one in measures)

Rates = Mapping[str, Sequence[Rate]]


@dataclass(frozen=True)
class Published:
    """Counts and totals by kind and rate, and the run that they are of."""

    version: str  # of vitcheck
    date: str
    seed: str
    rates: Mapping[str, Mapping[str, tuple[int, int]]]

    def to_json(self) -> str:
        """The file's text."""
        return _FILE.dump_json(self, indent=1).decode() + "\n"

    def of(self, kind: str, rate: Rate) -> tuple[int, int] | None:
        """The same rate, as it was published; None where it was not."""
        return self.rates.get(kind, {}).get(rate.measure.name)


_FILE = TypeAdapter(Published)


def published_of(rates: Rates, version: str, date: str, seed: str) -> Published:
    """These rates, to be published; those of no program are left out."""
    known = {
        kind: {one.measure.name: (one.count, one.total) for one in own if one.total}
        for kind, own in rates.items()
    }
    return Published(version, date, seed, {kind: own for kind, own in known.items() if own})


def load_published(corpus: Path) -> Published | None:
    """What was published last of a corpus; None where nothing was."""
    file = corpus / PUBLISHED
    return _FILE.validate_json(file.read_bytes()) if file.exists() else None


def fallen(rates: Rates, published: Published) -> Iterator[tuple[str, Rate, tuple[int, int]]]:
    """The kinds and rates that are worse than published by more than chance, and what was published."""
    for kind, own in rates.items():
        for rate in own:
            before = published.of(kind, rate)
            if before is not None and _worse(rate, *before):
                yield kind, rate, before


def _worse(rate: Rate, count: int, total: int) -> bool:
    """Where fewer are better, the others must not become fewer."""
    if rate.measure.better == "more":
        return fell(rate.count, rate.total, count, total, _TESTED)
    if rate.measure.better == "fewer":
        return fell(rate.total - rate.count, rate.total, total - count, total, _TESTED)
    return False
