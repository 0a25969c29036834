"""A generated program: its text with marks, what is known of it, and the files that are handed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from .decorating import decorated
from .facts import Facts
from .layouts import LAYOUTS
from .marking import Span, plain, spans
from .writing import Scope, Writer

# small, and no two alike, so that no mistake hides: the patches are nine, the tokens ten
SMALL = {
    "image": 12,
    "patch": 4,
    "channels": 3,
    "dim": 24,
    "depth": 3,
    "heads": 3,
    "mlp": 96,
    "ratio": 4,
    "classes": 5,
}


@dataclass(frozen=True)
class Program:
    """A right program."""

    text: str  # with marks
    entry: str  # the expression that makes the model or part
    weights: Mapping[str, str]  # by role, an expression in ``self``, and in ``i`` for those of block i
    facts: Facts
    idioms: tuple[str, ...]
    model: str  # its class
    sizes: Mapping[str, str]  # as they stand in it
    layout: str = "file"  # one of LAYOUTS
    file: str = "vit.py"

    @property
    def source(self) -> str:
        return plain(self.text)

    @property
    def spans(self) -> tuple[Span, ...]:
        return spans(self.text)

    def files(self, source: str | None = None) -> dict[str, bytes]:
        """What is handed in; ``source`` stands instead of the program's own where it is given."""
        return LAYOUTS[self.layout](self.source if source is None else source, self.model, self.file)


def laid_out(w: Writer, text: str, entry: str, scope: Scope) -> Program:
    """A program of a text with marks, decorated as its writer likes."""
    sizes = {size: w.values[size] for size in SMALL}
    text = decorated(w, text)
    layout: str = w.call("layout")
    file = w.choices.among(
        "vit.py", "model.py", "vit_transformer.py", "main.py", "vision_transformer.py", "assignment.py"
    )
    return Program(
        text, entry, scope.weights, replace(w.facts), tuple(w.choices.made), scope.name, sizes, layout, file
    )
