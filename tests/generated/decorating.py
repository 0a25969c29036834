"""What people add to code that does nothing: comments, marks of stages, prints, blank lines, white space."""

from __future__ import annotations

import re
from pathlib import Path

from .drawing import idiom
from .facts import Facts
from .marking import stages_in
from .words import LANGUAGES
from .writing import Writer

# what is said of a stage, in the languages that have words of their own; in English in several ways
_SAID = {
    stage: said.split(" | ")
    for stage, said in (
        row.split(": ", 1)
        for row in Path(__file__).with_name("comments.txt").read_text(encoding="utf-8").splitlines()
    )
}
_SPOKEN = ("english", *(one for one in LANGUAGES if one not in ("english", "short", "letter")))
_MARKS = (
    "# BREAKPOINT {}", "# BREAKPOINT {stage} - {said}", "# {stage}", "# {stage}: {said}", "#{stage} {said}",
    "breakpoint()  # {stage}", "# Breakpoint {number}", "# breakpoint {number}: {said}", "# [{stage}] {said}",
    "# ---- {stage} ----", "breakpoint()  # {number}: {said}",
)  # fmt: skip
_PARAGRAPHS = ("S04", "S07", "S11", "S14", "S15", "S20")  # after which a blank line may stand


class _Decorator:
    """How the writer of one program decorates it."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        draw = w.choices
        self.mark = draw.among(*_MARKS) if draw.once_in(2) else ""
        self.behind = self.mark.startswith("#") and draw.once_in(4)  # at the end of the line
        self.comments = not self.mark and draw.once_in(3)
        self.own_language = draw.once_in(2)
        self.prints, self.spaced = draw.once_in(8), draw.once_in(3)

    def line(self, line: str, following: str) -> list[str]:
        """The lines that stand for one of the program's."""
        indent = line[: len(line) - len(line.lstrip())]
        stages = stages_in(line)
        # a mark is true where a variable holds the stage
        named = re.match(r"[ \w,]* = «(S[^|]*)\|.*»$", line)
        lines = [f"{indent}# {self._said(stages[0])}"] if self._commented(stages) else []
        lines += self._marked(line, indent, named[1].split(",")) if self.mark and named else [line]
        if self.prints and (name := re.match(r" *(\w+) = «S", line)):
            lines.append(f'{indent}print("{name[1]}", {name[1]}.shape)')
        if self.spaced and self._ends(line, following):
            lines.append("")
        return lines

    def _commented(self, stages: tuple[str, ...]) -> bool:
        return self.comments and bool(stages) and self.w.choices.once_in(2)

    def _ends(self, line: str, following: str) -> bool:
        """Does a paragraph end here?"""
        goes_on = following.strip() != "" and _indent(following) == _indent(line)
        return goes_on and any(stage in _PARAGRAPHS for stage in stages_in(line))

    def _marked(self, line: str, indent: str, stages: list[str]) -> list[str]:
        marks = [
            self.mark.format(stage, stage=stage, said=self._said(stage), number=int(stage[1:]))
            for stage in stages
        ]
        if self.behind and len(marks) == 1:
            return [f"{line}  {marks[0]}"]
        return [line, *(indent + mark for mark in marks)]

    def _said(self, stage: str) -> str:
        row = _SAID.get(stage) or _SAID[_variant(stage, self.w.facts)]
        language = self.w.n.language if self.own_language else "english"
        if language not in _SPOKEN:
            language = "english"
        said = row[_SPOKEN.index(language)].split("; ")
        return said[0] if self.mark else self.w.choices.among(*said)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _variant(stage: str, facts: Facts) -> str:
    """Which row tells of a stage whose meaning hangs on the variant."""
    if stage == "S16":
        return "S16 post" if facts.placement == "post" else "S16 pre"
    return "S24 token" if facts.readout == "token" else "S24 mean"


def decorated(w: Writer, text: str) -> str:
    """The text, with marks taken along."""
    decorator, lines = _Decorator(w), text.split("\n")
    made = [
        part for line, following in zip(lines, [*lines[1:], ""]) for part in decorator.line(line, following)
    ]
    return _spaced(w, _with_heading(w, "\n".join(made)))


def _with_heading(w: Writer, text: str) -> str:
    heading = w.choices.among(
        "", "", "", '"""Vision Transformer from scratch."""\n', "# Homework 3\n", "# -*- coding: utf-8 -*-\n",
        '"""\nViT\nAn image is worth 16x16 words\n"""\n',
    )  # fmt: skip
    return heading + text


def _spaced(w: Writer, text: str) -> str:
    """With the white space of the writer's editor."""
    step: str = w.call("indentation")
    if step != "    ":
        text = re.sub(r"^(?:    )+", lambda found: step * (len(found[0]) // 4), text, flags=re.M)
    return w.call("white space", text)


@idiom("indentation", often=20)
def four_spaces(w: Writer) -> str:
    return "    "


@idiom("indentation", often=2)
def two_spaces(w: Writer) -> str:
    return "  "


@idiom("indentation", often=2)
def tabs(w: Writer) -> str:
    return "\t"


@idiom("white space", often=15)
def none_at_the_end_of_lines(w: Writer, text: str) -> str:
    return text


@idiom("white space")
def some_at_the_end_of_lines(w: Writer, text: str) -> str:
    return "\n".join(line + " " * (w.choices.below(4) // 3) for line in text.split("\n"))


@idiom("white space")
def blank_lines_that_are_indented(w: Writer, text: str) -> str:
    return re.sub(r"^\n(?=([ \t]+)\S)", r"\1\n", text, flags=re.M)
