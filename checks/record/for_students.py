"""What a student may see of a result: said here, and nowhere else. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Collection

from .faults import to_write
from .hints import down_to
from .repeating import repeated_by
from .result import CheckResult, Note, Result, Visibility
from .sentences import as_sentence
from .written_result import WrittenResult

_FOR_GRADERS = ("asks",)  # kinds of notes that a person who grades is asked to look at
_OF_ALL_CHECKS = ("taken", "unearned")  # kinds of notes that tell of checks wherever they stand


def for_students(result: Result, until: Visibility = Visibility.VISIBLE) -> Result:
    """Return the record that a student may have, of which everything that they get is made.

    It lacks rubrics, notes to who grades, checks that are shown later than ``until``, and all that follows
    from how these ended: it is the same however they did. So a stage that such a check judges is left out as
    a whole, and those checks of it that are shown say no more than what they found by themselves. The points
    are those of the checks in it. Hints go down to the rung that the assignment sets.
    """
    if result.told is not None and until.has(result.told):
        return result
    if result.run.command_of_author:
        result = repeated_by(result, result.run.command_of_author, result.run.command_of_author)
    hidden = [one for one in result.checks if not until.has(one.visibility)]
    found = result.model_copy(
        update={
            "told": until,
            "notes": [one for one in result.notes if one.kind not in _FOR_GRADERS],
            "written": result.written and _without_rubrics(result.written),
        }
    )
    shown = _without(found, hidden) if hidden else found
    return down_to(shown, result.asked.hints) if result.asked else shown


def _without_rubrics(written: WrittenResult) -> WrittenResult:
    answers = [one.model_copy(update={"rubric": ""}) for one in written.answers]
    return written.model_copy(update={"answers": answers})


def _without(result: Result, hidden: Collection[CheckResult]) -> Result:
    gone = {one.stage for one in hidden if one.stage and one.judges}
    ids = {one.id for one in hidden}
    shown = [_alone(one, result) if one.stage in gone else one for one in result.checks if one.id not in ids]
    stages = {label: one for label, one in result.stages.items() if label not in gone}
    named = {name for one in shown for name in (one.id, *one.mistakes)}
    first = next(iter(to_write(result)), None)
    return result.model_copy(
        update={
            "later": True,
            "score": result.score.model_copy(update={"earned": round(sum(one.earned for one in shown), 2)}),
            "stages": stages,
            "unwritten": result.unwritten if first in stages else None,
            "checks": shown,
            "proof": None,  # it tells of all stages
            "mistakes": [
                one for one in result.mistakes if one.stage not in gone and {one.id, one.stage} & named
            ],
            "variants": [one for one in result.variants if one.stage not in gone],
            "notes": [one for one in result.notes if not _tells_of_checks(one)],
            "written": result.written and _without_snapshots(result.written, ids),
            "arrays": _without_arrays(result.arrays, gone),
        }
    )


def _alone(check: CheckResult, result: Result) -> CheckResult:
    """What the check says by itself: its message begins with what the stage's mistake is called."""
    title = next((one.title for id in check.mistakes for one in result.mistakes if one.id == id), None)
    message = "" if check.mistakes and title is None else check.message
    return check.model_copy(
        update={"mistakes": [], "message": message.removeprefix(as_sentence(title or "")).strip()}
    )


def _tells_of_checks(note: Note) -> bool:
    return note.kind in _OF_ALL_CHECKS


def _without_snapshots(written: WrittenResult, hidden: Collection[str]) -> WrittenResult:
    shown = {label: one for label, one in written.snapshots.items() if f"written[{label}]" not in hidden}
    return written.model_copy(update={"snapshots": shown})


def _without_arrays(arrays: bytes | None, stages: Collection[str | None]) -> bytes | None:
    """The safetensors file without what is kept of these stages."""
    if arrays is None:
        return None
    from safetensors.numpy import load, save  # loads NumPy, which most of who reads records needs not

    length = int.from_bytes(arrays[:8], "little")
    told = json.loads(json.loads(arrays[8 : 8 + length])["__metadata__"]["stages"])
    kept = {name: one for name, one in load(arrays).items() if name.partition("/")[0] not in stages}
    listed = {label: one for label, one in told.items() if label not in stages}
    return save(kept, {"stages": json.dumps(listed)}) if kept else None
