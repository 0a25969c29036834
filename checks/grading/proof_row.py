"""The row of the result record that tells whether what is blamed is the cause."""

from __future__ import annotations

from collections.abc import Mapping

from ..examining.examination import Examination
from ..proving.proof import Shown, prove
from ..record.result import Proof, StageResult, StageStatus
from .check_rows import label_of


def proof_row(examination: Examination, stages: Mapping[str, StageResult]) -> Proof | None:
    """Of those that failed, by their labels; one that failed for more than its numbers stays."""
    failed = [label for label, one in stages.items() if one.status is StageStatus.FAILED]
    shown = None if examination.unbuilt else _by_code(examination) or prove(examination)
    if shown is None or not failed:
        return None
    cured, follows = (_labels(examination, keys) for keys in (shown.cured, shown.follows))
    if not cured:  # an architecture may lack such a stage
        return None
    still = [label for label in failed if label not in (*cured, *follows)]
    return Proof(
        proven=shown.still is None and not still,
        cured=cured,
        follows=[label for label in failed if label in follows],
        still=still,
    )


def _by_code(examination: Examination) -> Shown | None:
    """Changes of the code that were found are the same experiment, made on its text."""
    made = examination.repairs
    mended = (key for one in made for key in one.mends)
    return Shown(tuple(one.stage for one in made), tuple(mended)) if made else None


def _labels(examination: Examination, keys: tuple[str, ...]) -> list[str]:
    labels = (label_of(examination.family, key) for key in keys)
    return [one for one in labels if one is not None]
