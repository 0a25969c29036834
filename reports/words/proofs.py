"""What becomes of the rest once a stage is right, in one sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ...checks.record.result import Result
from ...checks.record.snapshot import Record
from .text import one_line
from .wording import say


def proof_text(record: Record, labels: Sequence[str]) -> str:
    """Of stages that are wrong together; empty where it was not tried, or shows nothing of the first."""
    proof = record.proof if isinstance(record, Result) else None
    if proof is None or labels[0] not in proof.cured:
        return ""
    others = [one_line(one) for one in proof.cured if one not in labels]
    if proof.proven:
        return say("proof.several", others=", ".join(others)) if others else say("proof.alone")
    still = [*others, *map(one_line, proof.still)]
    return say("proof.still", still=still[0]) if proof.still else ""
