"""Submissions that are alike, as a page and as data."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...checks.record.pairs import SHARE, Pair
from ...checks.record.result import CodeLine
from ..words.text import LINE_LIMIT, NAME_LIMIT, clean, one_line

_LINES = 400  # of one program; more are cut


@dataclass(frozen=True)
class SideView:
    """One program of a pair."""

    name: str
    percent: str
    lines: tuple[CodeLine, ...]


@dataclass(frozen=True)
class SimilarView:
    """Everything on the page."""

    compared: int
    share: str
    pairs: tuple[tuple[SideView, SideView], ...]
    left_out: tuple[tuple[str, str], ...]


def similar_view(pairs: Sequence[Pair], compared: int, left_out: Mapping[str, str]) -> SimilarView:
    """All text in it is cleaned, and cut where it is long."""
    return SimilarView(
        compared=compared,
        share=percent(SHARE),
        pairs=tuple((_side(pair, 0), _side(pair, 1)) for pair in pairs),
        left_out=tuple((one_line(name, NAME_LIMIT), one_line(why)) for name, why in left_out.items()),
    )


def similar_json(pairs: Sequence[Pair], compared: int, left_out: Mapping[str, str]) -> str:
    """Return names and shares, without the code."""
    rows = [{"first": one.first, "second": one.second, "shares": list(one.shares)} for one in pairs]
    data = {"threshold": SHARE, "compared": compared, "pairs": rows, "left_out": dict(left_out)}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def percent(share: float) -> str:
    """Such as "92 %"."""
    return f"{100 * share:.0f} %"


def _side(pair: Pair, side: int) -> SideView:
    lines = tuple(
        one.model_copy(update={"text": clean(one.text, LINE_LIMIT)}) for one in pair.excerpts[side][:_LINES]
    )
    return SideView(one_line((pair.first, pair.second)[side], NAME_LIMIT), percent(pair.shares[side]), lines)
