"""What people add to code that does nothing: comments, marks of stages, prints, blank lines."""

from __future__ import annotations

import re

from .marking import stages_in
from .writing import Writer

_SAID = {
    "S02": ("split into patches", "(B, N, C, P, P)"),
    "S03": ("flatten patches", "flatten each patch"),
    "S04": ("patch embeddings", "[B, N, D]", "project the patches"),
    "S05": ("class token", "expand cls token over the batch"),
    "S06": ("prepend cls token", "B, N+1, D"),
    "S07": ("add positional encoding", "positions"),
    "S09": ("Q, K, V", "queries keys values", "(B, h, N, d)"),
    "S12": ("scaled dot product", "attention scores", "similarity between tokens"),
    "S13": ("softmax", "normalise over keys", "attention weights"),
    "S14": ("weighted sum of values", "context"),
    "S15": ("output projection", "merge the heads"),
    "S16": ("norm before mlp", "second norm"),
    "S17": ("hidden layer", "expand"),
    "S18": ("project back", "feed forward"),
    "S20": ("residual", "skip connection"),
    "S23": ("final norm",),
    "S24": ("take cls token", "representation"),
    "S25": ("classification head", "logits"),
}
_MARKS = ("# BREAKPOINT {}", "# BREAKPOINT {} - {}", "# {}", "# {}: {}", "#{} {}", "breakpoint()  # {}")


def decorated(w: Writer, text: str) -> str:
    """The text, with marks taken along."""
    mark = w.choices.among("", "", "", "", "", *_MARKS)
    comments, prints, spaced = w.choices.once_in(3), w.choices.once_in(8), w.choices.once_in(3)
    lines: list[str] = []
    for line in text.split("\n"):
        stages = stages_in(line)
        indent = re.match(" *", line)[0]  # type: ignore[index]  # matches always
        if comments and stages and w.choices.once_in(2):
            lines.append(f"{indent}# {w.choices.among(*_SAID.get(stages[0], ('next step',)))}")
        returned = line.lstrip().startswith("return ")
        named = re.match(r"[ \w,]* = «([^|]*)\|.*»$", line)  # a mark is true where a variable holds the stage
        lines.append(line)
        lines += [indent + _mark(mark, stage) for stage in named[1].split(",")] if mark and named else []
        if prints and (name := re.match(r" *(\w+) = «S", line)):
            lines.append(f'{indent}print("{name[1]}", {name[1]}.shape)')
        if spaced and stages and not returned and w.choices.once_in(2):
            lines.append("")
    return _with_heading(w, "\n".join(lines))


def _mark(form: str, stage: str) -> str:
    return form.format(stage, _SAID.get(stage, ("tensor",))[0])


def _with_heading(w: Writer, text: str) -> str:
    heading = w.choices.among(
        "", "", "", '"""Vision Transformer from scratch."""\n', "# Homework 3\n", "# -*- coding: utf-8 -*-\n",
        '"""\nViT\nAn image is worth 16x16 words\n"""\n',
    )  # fmt: skip
    return heading + text
