"""What a report says of each stage: where it is shown, and the text that belongs to it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ...submissions.written.passages import Passage, PassageKind
from ...submissions.written.reading import WrittenReport
from .stage_names import labels_first, labels_within, named_first

_CHARACTERS = 3000  # of one section; what is said of a tensor stands near its name
_MARK = re.compile(r"[\W\d]*#\s*breakpoint", re.IGNORECASE)  # a line of code, whatever it was pasted into
_COMMENT = re.compile(r"\s#\s.*")
_WORD = re.compile(r"[\w.]+")
_CLOSING = re.compile(
    r"\W*(?:\d+(?:\.\d+)*[.)]?\s+)?"
    r"(?:reflections?|conclusions?|references|appendix|summary|guiding questions)\b",
    re.IGNORECASE,
)
_CLOSING_LENGTH = 60  # a longer line is a sentence

Ends = Callable[[Passage], bool]


@dataclass
class Section:
    """What is said of the stages ``labels``; ``sure`` where nothing else can be meant by it."""

    labels: list[str]
    where: str
    sure: bool = True
    labelled: bool = True  # it gives the label, not a usual name alone
    pictured: bool = False
    level: int = 0  # of the heading that it stands under
    text: str = field(default="", repr=False)

    def add(self, text: str) -> None:
        """Take more in, up to what may belong to one stage."""
        self.text = f"{self.text}\n{text}"[:_CHARACTERS]


def sections(documents: Iterable[WrittenReport], ends: Ends) -> list[Section]:
    """List the sections of all reports; ``ends`` tells the passages that begin something else."""
    return [one for document in documents for one in _ReportReader(document, ends).sections()]


class _ReportReader:
    """One report, from its first passage to its last."""

    def __init__(self, document: WrittenReport, ends: Ends) -> None:
        self._document, self._ends = document, ends
        self._open: Section | None = None

    def sections(self) -> Iterator[Section]:
        for passage in self._document.passages:
            if passage.kind is PassageKind.PICTURE:
                self._picture()
            elif passage.kind is PassageKind.CODE or _MARK.match(passage.text):
                yield from self._code(passage)
            elif passage.kind is PassageKind.ROW:
                yield from self._row(passage)
            else:
                yield from self._text(passage)

    def _picture(self) -> None:
        if self._open is not None:
            self._open.pictured = True

    def _code(self, passage: Passage) -> Iterator[Section]:
        """Lines that give a label are about that stage; of others only shapes that were printed count."""
        for line in passage.text.splitlines():
            labels = [one for _, found in labels_within(line) for one in found]
            if labels:
                yield self._section(passage, labels, line, sure=len(labels) == 1)
            elif self._open is not None and _shows_a_shape(line):
                self._open.add(line)

    def _row(self, passage: Passage) -> Iterator[Section]:
        cells = passage.text.split(" | ")
        if labels := next(filter(None, map(labels_first, cells)), None):
            yield self._section(passage, labels, passage.text)
        elif labels := next(filter(None, map(named_first, cells)), None):
            yield self._section(passage, labels, passage.text, labelled=False)
        elif self._open is not None:
            self._open.add(passage.text)

    def _text(self, passage: Passage) -> Iterator[Section]:
        if self._closes(passage):
            self._open = None
        labels = labels_first(passage.text)
        below_label = self._open is not None and self._open.labelled
        names = [] if below_label else named_first(passage.text)  # there, "Values: 0.38" names no stage
        if labels or names:
            self._open = self._section(passage, labels or names, passage.text, labelled=bool(labels))
            yield self._open
            return
        if self._open is not None:
            self._open.add(_COMMENT.sub("", passage.text) if passage.page else passage.text)
        for sentence, found in labels_within(passage.text):
            yield self._section(passage, found, sentence, sure=self._open is None and len(found) == 1)

    def _closes(self, passage: Passage) -> bool:
        if self._ends(passage) or closes_all(passage):
            return True
        if passage.kind is PassageKind.HEADING:
            return self._open is not None and passage.level <= (self._open.level or passage.level)
        return False

    def _section(
        self, passage: Passage, labels: list[str], text: str, *, sure: bool = True, labelled: bool = True
    ) -> Section:
        page = f", page {passage.page}" if passage.page else ""
        where = f"{self._document.name}{page}"
        return Section(labels, where, sure, labelled, level=passage.level, text=text[:_CHARACTERS])


def _shows_a_shape(line: str) -> bool:
    """Tell whether a line is numbers with commas and blanks between them, behind a name at most."""
    words = list(_WORD.finditer(line))
    if words and not (words[0][0].isdecimal() and _listed(line, words[:2])):
        del words[0]
    if words and words[0][0] == "torch.Size":
        del words[0]
    return bool(words) and all(one[0].isdecimal() for one in words) and _listed(line, words)


def _listed(line: str, words: Sequence[re.Match[str]]) -> bool:
    return all(set(line[one.end() : next_.start()]) <= {",", " "} for one, next_ in pairwise(words))


def closes_all(passage: Passage) -> bool:
    """Tell whether another part of the report begins here, also where headings are lines like others."""
    return len(passage.text) < _CLOSING_LENGTH and bool(_CLOSING.match(passage.text))
