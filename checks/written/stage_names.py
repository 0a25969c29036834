"""Which stages a text begins with: by their labels, or by what students call them."""

from __future__ import annotations

import re
import sys
from functools import cache
from importlib.resources import files

from rapidfuzz import fuzz, process

from ...reference.stages import LABEL_SETS, STAGES
from ...submissions.reading.code import labels_at

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ALIKE = 92  # per cent: a letter more or less in a name, and no other word
_LONGEST = 60  # characters of a name
_BEGINNING = 500  # characters in which a label or name comes first, with the caption that it may stand in
_SPELT = re.compile(r"\b(?:(?:snapshot|stage|breakpoint)\s{0,3}#?\s?S?|S[- ])0*(\d{1,2})\b", re.IGNORECASE)
_LABEL = re.compile(r"\bS0*([1-9]|1\d|2[0-6])\b")
_NUMBERED = re.compile(
    r"\W*(?:\d+(?:\.\d+)*[.)]?\s+)?\W*(?:(?:figure|fig|listing|screenshot|table|step|tensor)\b\W*(?:\d+\b\W*)?)?",
    re.IGNORECASE,
)
_END_OF_NAME = re.compile(r"[:|(\u2013\u2014=\n]| - |\.\s")


def labels_first(text: str) -> list[str]:
    """List the labels that a text begins with, whatever number its figure or section has."""
    text = _spelt(text[:_BEGINNING])
    rest = text[_begin(text) :]
    return _known(labels_at(rest)) if _LABEL.match(rest) else []


def labels_within(text: str) -> list[tuple[str, list[str]]]:
    """List the sentences of a text that name stages by their labels, with these labels."""
    sentences = re.split(r"(?<=[.;!?])\s+|\n", _spelt(text))
    found = [(one, _known([f"S{int(label):02}" for label in _LABEL.findall(one)])) for one in sentences]
    return [(sentence, labels) for sentence, labels in found if labels]


def named_first(text: str) -> list[str]:
    """List the labels of the stages that a text begins with a usual name of."""
    text = text[:_BEGINNING]
    name = _END_OF_NAME.split(text[_begin(text) :], maxsplit=1)[0]
    words = _words(name)
    if not words or len(words) > _LONGEST:
        return []
    best = process.extractOne(words, _labels_by_name().keys(), scorer=fuzz.ratio, score_cutoff=_ALIKE)
    return _labels_by_name()[best[0]] if best else []


def _spelt(text: str) -> str:
    return _SPELT.sub(r"S\1", text)


def _begin(text: str) -> int:
    numbered = _NUMBERED.match(text)
    return numbered.end() if numbered else 0


def _known(labels: list[str]) -> list[str]:
    return [one for one in dict.fromkeys(labels) if one in LABEL_SETS["report"]]


def _words(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9]+", text.lower().replace("normalisation", "normalization")))


@cache
def _labels_by_name() -> dict[str, list[str]]:
    table = tomllib.loads(files(__package__).joinpath("names.toml").read_text("utf-8"))
    found: dict[str, list[str]] = {}
    for stage in STAGES:
        for name in dict.fromkeys([_words(stage.title), *table[stage.key]]):
            found.setdefault(name, []).append(stage.label)
    return found
