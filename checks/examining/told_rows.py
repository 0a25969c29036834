"""The stages with texts as they are true of a submission's blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...reference.stages import Stage

if TYPE_CHECKING:
    from .passes.examples import Examples


def told_rows(examples: Examples) -> Mapping[str, Stage]:
    """Return the rows by key, of the blocks that were seen, or else of the first that are asked for."""
    family = examples.family
    kinds = [examples.architecture or "", *examples.assignment.architectures, *family.blocks]
    kind = next(one for one in kinds if one in family.blocks)
    rows = {one.key: one for one in examples.assignment.table_of(kind)}
    return {one.key: rows.get(one.key, one) for one in family.stages}
