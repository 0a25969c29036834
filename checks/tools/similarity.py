"""Submissions that are alike: for a person to look at, and nothing that anybody is graded by.

Programs are compared by copydetect: tokens without names and comments, and the runs of them that two programs
share. Nothing here executes student code.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from ...submissions.errors import SubmissionError
from ...submissions.reading.code import module_file
from ...submissions.reading.python_text import decode
from ...submissions.reading.source import read_source
from ..record.pairs import SHARE, Pair
from ..record.result import CodeLine

MOST = 100  # pairs that are shown
_RUN = 25  # characters of filtered code, about three lines: the library's own default
_CHARACTERS = 200_000  # of one program; a ViT has about 6,000


@dataclass(frozen=True)
class Programs:
    """The code of each submission, all files of it in one text, and why others could not be compared."""

    texts: Mapping[str, str]
    left_out: Mapping[str, str]


def read_programs(submissions: Mapping[str, Path]) -> Programs:
    """Read the submissions, which are given by name: notebooks as their code, folders as all their files."""
    texts: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for name, path in submissions.items():
        try:
            text = program_text(path)
        except SubmissionError as error:
            left_out[name] = error.reason
            continue
        except Exception as error:  # of one that nothing is known of: the others are compared
            left_out[name] = f"the grader itself failed on it: {error!r}"
            continue
        if len(text) > _CHARACTERS:
            left_out[name] = f"its code has more than {_CHARACTERS:,} characters"
        else:
            texts[name] = text
    return Programs(texts, left_out)


def program_text(path: Path) -> str:
    """Return all code of a submission. Raises NotLoaded and Refused as reading it does."""
    files = read_source(path).files
    code = {name: decode(content) for name, content in files.items() if module_file(name)}
    return "\n".join(f"# {name}\n{text}" for name, text in code.items())


def similar_pairs(texts: Mapping[str, str], base: str = "") -> list[Pair]:
    """List the pairs of which one shares ``SHARE`` with the other, the most alike first, at most ``MOST``.

    What stands in ``base``, the skeleton that was handed out, counts for nothing.
    """
    from copydetect import compare_files

    ignored = _fingerprint("base", base).hashes if base else set()
    prints = {name: _without(_fingerprint(name, text), ignored) for name, text in texts.items()}
    found = []
    for one, other in combinations([one for one in prints.values() if one.hashes], 2):
        _, shares, _ = compare_files(one, other)
        if max(shares) >= SHARE:
            rounded = (round(float(shares[0]), 4), round(float(shares[1]), 4))
            found.append(Pair(one.filename, other.filename, rounded))
    found.sort(key=lambda one: (-max(one.shares), -min(one.shares), one.first, one.second))
    return [_with_excerpts(one, prints[one.first], prints[one.second]) for one in found[:MOST]]


def _fingerprint(name: str, text: str) -> Any:
    """All runs are kept, so that the same programs give the same shares: which to drop would be chance."""
    from copydetect import CodeFingerprint

    return CodeFingerprint(name, k=_RUN, win_size=1, language="python", fp=io.StringIO(text))


def _without(print_: Any, ignored: set[int]) -> Any:
    """The library's own way to ignore a skeleton takes repeated lines for parts of it."""
    from copydetect.utils import get_token_coverage

    if ignored:
        print_.hashes -= ignored
        print_.hash_idx = {run: places for run, places in print_.hash_idx.items() if run in print_.hashes}
        print_.token_coverage = get_token_coverage(print_.hash_idx, _RUN, len(print_.filtered_code))
    return print_


def _with_excerpts(pair: Pair, first: Any, second: Any) -> Pair:
    from copydetect import compare_files

    _, _, (here, there) = compare_files(first, second)
    return replace(pair, excerpts=(_lines(first.raw_code, here), _lines(second.raw_code, there)))


def _lines(text: str, slices: Any) -> tuple[CodeLine, ...]:
    """Every line of a program, those that begin in one of the ``slices`` (starts, ends) marked."""
    lines, place = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        begin = place + len(line) - len(line.lstrip())
        shared = bool(line.strip()) and bool(((slices[0] <= begin) & (begin < slices[1])).any())
        lines.append(CodeLine(number=number, text=line, marked=shared))
        place += len(line) + 1
    return tuple(lines)
