"""The rows of a block read what the table of stages says that each stage is computed from."""

from __future__ import annotations

import pytest

from vitcheck.checks.locating.wiring.blocks import KINDS, BlockKind
from vitcheck.reference.stages import ARCHITECTURES, Stage

LISTED = [one for one in KINDS if one.name in ARCHITECTURES]


def read_by(kind: BlockKind, key: str) -> set[str]:
    """Keys of the stages that a row reads, itself or through tensors that are no stage."""
    stages = {one.key for one in ARCHITECTURES[kind.name]}
    row = next(one for one in kind.rows if one.key == key)
    through = [read_by(kind, one) for one in row.reads if one not in stages]
    return set(row.reads) & stages | set().union(*through)


def in_blocks(kind: BlockKind) -> list[Stage]:
    rows = {one.key for one in kind.rows}
    return [one for one in ARCHITECTURES[kind.name] if one.key in rows]


@pytest.mark.parametrize("kind", LISTED, ids=lambda one: one.name)
def test_what_a_stage_is_computed_from_is_what_its_row_reads(kind: BlockKind) -> None:
    assert len(in_blocks(kind)) >= 10
    unread = {one.key: set(one.predecessors) - read_by(kind, one.key) for one in in_blocks(kind)}
    assert {key: keys for key, keys in unread.items() if keys} == {}
