"""How far the code is written, where the forward pass ends for want of the rest."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ...reference.components import COMPONENTS
from ...submissions.errors import Frame, StudentCodeFailed
from ...submissions.reading.to_do import is_left_within, noted, without_code
from ...submissions.reading.unwritten import throws_away, unwritten
from ..locating.accounting import without_blocks
from ..locating.reached import LEFT_OUT, went_on
from ..locating.walk import NOTHING, Walk
from .passes.examples import Examples

_AXES = 3  # of tokens
_ATTENTION = COMPONENTS["attention"].stages
_AROUND_MLP = ("post_attention_norm", "mlp_output", "post_mlp_norm")  # of which nothing is there without it
_NO_FUNCTION = ("residual", "scale", "bias")  # what is left out and no function or layer stands for
# what follows from a stage alone, and is not there without it
_AT_THE_END = {"logits": "class_probabilities"}
_MADE_OF_IT = {"mlp_hidden": "mlp_output", **_AT_THE_END}


@dataclass(frozen=True)
class Unfinished:
    """The keys of the stages that are not written yet, in order, and the line of the first, if known.

    Where the pass is ``lost``, the stage before them is written in a way that could not be followed.
    """

    keys: tuple[str, ...]
    frame: Frame | None
    lost: bool = False

    @property
    def message(self) -> str:
        where = "" if self.frame is None else f": {self.frame.file}, line {self.frame.line}"
        return f"not written yet{where}"


def unfinished(examples: Examples) -> Unfinished | None:
    """Return what is not written yet; None where the pass came to its end, failed, or was not made."""
    if not examples.examples:
        return None
    error, reached = examples.crash, {step.key for step in examples.walk.steps}
    lacking = _with_what_is_made_of(_to_come(examples), _AT_THE_END)
    if "mlp_hidden" in lacking:
        lacking.update(_AROUND_MLP)
    keys = [key for key in examples.keys if key not in reached - lacking]
    if without_blocks(examples.walk):
        return Unfinished(_of_blocks(examples), None)
    if error is None:
        gone = lacking.union(_ATTENTION if "query" in lacking else ())  # without which none of it is there
        is_to_come = gone.issuperset(keys) or _ends_early(examples, keys)
        return Unfinished(tuple(keys), None) if keys and is_to_come else None
    places = unwritten(examples.source.files)
    # with fewer heads fewer matrices may be those of one stage
    lost = bool(keys) and any(went_on(one.walk, keys[0]) for one in examples.examples)
    if not keys or (not error.is_placeholder and ("logits" in reached or lost)):
        return None
    called = [one for one in places if one.name == keys[0]]  # as the stage is in a skeleton
    frames = [one.frame for one in (*called, *places)]
    if error.is_placeholder:
        frames = list(error.frames)
    elif not _is_for_want(error, frames):
        return None
    return Unfinished(tuple(keys[lost:]), next(iter(frames), None), lost)


def _to_come(examples: Examples) -> set[str]:
    """The stages that lack something of which the code says that it is to come."""
    lacking, files = _lacking(examples), examples.source.files
    if not lacking or is_left_within(files):
        return {*lacking}
    notes = [*without_code(files), *(noted(files) if examples.walk.ends_early else ())]
    return {stage for stage, what in lacking.items() if any(what in one for one in notes)}


def _of_blocks(examples: Examples) -> tuple[str, ...]:
    """The stages of blocks that are not there, and others that lack something, as positions or the head."""
    keys, lacking = list(examples.keys), _with_what_is_made_of({*_lacking(examples)})
    first, end = keys.index("block_input") + 1, keys.index("last_block_output") + 1
    return tuple(one for at, one in enumerate(keys) if first <= at < end or one in lacking)


def left_out(examples: Examples, absent: Collection[str]) -> Unfinished:
    """The stages that are not there, and not ``absent`` by right, and those that lack something.

    They are not written yet where what is not written gives back what it is given.
    """
    there = {step.key for step in examples.walk.steps}.union(absent)
    lacking = _with_what_is_made_of({*_lacking(examples)})
    keys = tuple(one for one in examples.keys if one in lacking or one not in there)
    return Unfinished(keys, next((one.frame for one in unwritten(examples.source.files)), None))


def _with_what_is_made_of(lacking: set[str], made: Mapping[str, str] = _MADE_OF_IT) -> set[str]:
    """These stages, and those that nothing but them leads to."""
    return lacking | {made[one] for one in lacking if one in made}


def _lacking(examples: Examples) -> dict[str, str]:
    """The stages of which is said that something is left out, and nothing else; and what it is."""
    told = (one for step in examples.walk.steps for one in step.findings)
    wrong = [one for one in told if examples.family.mistake(one.id).kind == "error"]
    lacking = [one for one in wrong if one.id.endswith(LEFT_OUT)]
    besides = {one.stage for one in wrong if one not in lacking}
    return {
        one.stage: one.id.partition("-")[0]
        for one in lacking
        if one.stage not in besides and not any(word in one.id for word in _NO_FUNCTION)
    }


def _ends_early(examples: Examples, keys: Sequence[str]) -> bool:
    """Does it come to its end before these stages, as far as it can be followed?"""
    walk = examples.walk
    has_scores = any(step.key == "logits" for step in walk.steps)
    if has_scores and (not walk.trace.gives_back_image or throws_away(examples.source.files)):
        return False
    return walk.is_cut_short and not (went_on(walk, keys[0]) or _gives_unknown_tokens(walk))


def _gives_unknown_tokens(walk: Walk) -> bool:
    """Does it return tokens, of which no stage was found?"""
    shapes = [where.shape for _, where in walk.trace.outputs]
    return not walk.steps and any(len(one) == _AXES and one[-1] == walk.sizes.embed_dim for one in shapes)


def _is_for_want(error: StudentCodeFailed, places: Sequence[Frame]) -> bool:
    """Does what failed need something that is not there, while there are places for it?"""
    here = error.frame
    above = [one for one in places if here and one.file == here.file and one.line < here.line]
    unset = error.type == "UnboundLocalError" and bool(above)
    return unset or (bool(places) and any(one in error.message for one in NOTHING))
