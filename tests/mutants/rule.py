"""A mistake as a rule: what to write at a place instead, in every base that has the place."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from corpus import BASES

from .mutant import Mutant, Rewrite
from .styles import STYLES

FOLDED = {name for name, style in STYLES.items() if style.folded}
PACKED = {name for name, style in STYLES.items() if style.packed}
REPORT = {name for name, base in BASES.items() if base.family == "report"}
FREE = set(STYLES) - {"clip_style"}  # of a norm before the blocks, and with activations of their own choice


@dataclass(frozen=True)
class Rule:
    """One mistake, as Mutant has it, and what makes it in the bases that it is ``for_``.

    A letter of ``template`` is what the place's pattern calls so; H and D are the number of heads and width.
    """

    id: str
    stage: str
    place: str
    template: str
    target: str = "W"
    kind: str = "error"
    accepted: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    where: str = ""
    for_: Collection[str] = frozenset(STYLES)

    def planted(self, base: str) -> Mutant | None:
        """The mistake in ``base``, if that has the place and can be changed there."""
        rewrite = Rewrite(self.place, self.template, self.target)
        if base not in self.for_ or rewrite.apply(BASES[base].source(), base) is None:
            return None
        others = tuple(one for one in self.accepted if one != self.id)
        return Mutant(
            self.id,
            base,
            (rewrite,),
            self.stage,
            others,
            self.kind,
            elsewhere=self.elsewhere,
            where=self.where,
        )


def all_but(*bases: str) -> Collection[str]:
    return set(STYLES) - set(bases)
