"""One try to build a model: how it was built, at which sizes, and what was seen of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from math import inf, prod

from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ....reference.sizes import Sizes
from ...questions.meanings import fields_of
from .calls.blueprint import Assignment

_ALONG_A_SIDE = "patches_side"


class Level(IntEnum):
    """How far a try got."""

    NOTHING = 0
    BUILT = 1
    RAN = 2
    FITS = 3  # what came out has the shape that is asked for: of a model, a row of scores for each image


@dataclass
class BuildAttempt:
    """One try: how it was built, at which sizes, and what was seen."""

    assignment: Assignment
    sizes: ModelSizes
    level: Level = Level.NOTHING
    error: BaseException | None = None
    seen: dict[str, int] = field(default_factory=dict)
    embedded: int = 0  # the width that patches are mapped to, where a convolution tells it
    shapes: Counter[tuple[int, ...]] = field(default_factory=Counter)  # of all parameters
    output: Tensor | None = None  # the largest tensor that came out
    returned: str | None = None  # the field that its last axis has
    computed: int = 0  # numbers, in the pass
    operations: int = 0  # of a pass that fails, before it does
    adapted: bool = False  # was something that the assignment sets changed to what the model has?

    @property
    def claimed(self) -> set[str]:
        """The fields of ``Sizes`` that the assignment sets."""
        return fields_set(self.assignment)

    @property
    def contradicted(self) -> set[str]:
        """The fields that were set, and came out otherwise.

        A block too few or too many is a mistake; blocks that are kept as halves are twice as many; and what
        is as many as rows of patches may well be that, whatever its name says of heads.
        """
        set_to = {name: getattr(self.sizes, name) for name in self.claimed & self.seen.keys()}
        as_well = {"depth": (-1, 1, set_to.get("depth", 0)), "heads": (self._rows - set_to.get("heads", 0),)}
        return {
            name for name, one in set_to.items() if self.seen[name] - one not in (0, *as_well.get(name, ()))
        }

    @property
    def _rows(self) -> int:
        return self.sizes.grid[0] if isinstance(self.sizes, Sizes) else 0

    @property
    def gives_features(self) -> bool:
        """Are its rows as wide as its tokens, where no argument says how many classes there are?"""
        width = getattr(self.sizes, "embed_dim", 0) if "embed_dim" in self.claimed else 0
        return (
            bool(width) and self.returned not in self.claimed and self.seen.get(self.returned or "") == width
        )

    @property
    def parameters(self) -> int:
        """How many numbers the model learns; 0 where it was not built."""
        return sum(prod(shape) * count for shape, count in self.shapes.items())

    @property
    def is_perfect(self) -> bool:
        """Say whether no other values would come farther, nor these be wrong by what is seen."""
        comes_far = self.level == Level.FITS or self.is_bug or self.gives_nothing
        return comes_far and not self.contradicted and not self.adapted and not self.neglects_classes

    @property
    def neglects_classes(self) -> bool:
        """Does nothing set how many classes there are, though an argument may well mean that?"""
        return "classes" not in self.claimed and any("classes" in one.choices for one in self.assignment)

    @property
    def leaves_no_pixels(self) -> bool:
        """Is a number along a side taken for that of all patches, of which none has a pixel then?"""
        counts = (one for slot, one in self.assignment.items() if _ALONG_A_SIDE in slot.choices)
        is_empty = any(0 in shape for shape in self.shapes)
        return is_empty and any(one != _ALONG_A_SIDE for one in counts)

    @property
    def is_cut_evenly(self) -> bool:
        """Are its images so many patches high and wide, of the size that it shows?"""
        patch = self.seen.get("patch", 1)
        return not isinstance(self.sizes, Sizes) or self.sizes.height % patch == self.sizes.width % patch == 0

    @property
    def gives_nothing(self) -> bool:
        """Does it run to an end at which nothing is returned?"""
        return self.level == Level.RAN and self.output is None

    @property
    def comes_through(self) -> bool:
        """Did numbers come out?"""
        return self.level >= Level.RAN and (self.output is None or bool(self.output.isfinite().all()))

    @property
    def is_bug(self) -> bool:
        """Say whether the forward pass would fail at all sizes: by a bug, or where it is not written yet."""
        bugs = (AttributeError, NameError, NotImplementedError)
        return self.level == Level.BUILT and isinstance(self.error, bugs) and "aten::" not in str(self.error)

    @property
    def came_to(self) -> tuple[float, int]:
        """How far it came: of two that fail alike, what more was computed in."""
        return self.score, self.operations

    @property
    def score(self) -> float:
        """What parameters contradict weighs more than a level: what a wrong model returns says little.

        Any model says more than none.
        """
        if self.level == Level.NOTHING:
            return -inf
        confirmed = len(self.claimed & self.seen.keys()) - len(self.contradicted)
        refuted = bool(self.contradicted - {self.returned})
        return 10.0 * self.level + confirmed - 2 * len(self.contradicted) - 11 * refuted - 2 * self.adapted


def fields_set(assignment: Assignment) -> set[str]:
    """Collect the fields of ``Sizes`` that are set.

    Beside an image, a number of patches sets the patch; beside heads, the width of one sets that of a token.
    """
    kinds = [choice for choice in assignment.values() if isinstance(choice, str)]
    images = [kind for kind in kinds if kind.startswith(("image", "height"))]
    counts = [kind for kind in kinds if kind.startswith("patches") or kind == "tokens"]
    found = {name for kind in kinds for name in fields_of(kind)}
    found |= {"patch"} if images and counts else set()
    return found | ({"embed_dim"} if {"heads", "head_dim"} <= {*kinds} else set())
