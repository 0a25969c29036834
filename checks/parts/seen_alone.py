"""The stages that a part shows by itself, where there is no model yet that uses it."""

from __future__ import annotations

from collections.abc import Sequence

from ...reference.components import COMPONENTS
from ...submissions.reading.unwritten import early_ends
from ..examining.examination import Examination
from ..locating.reached import LEFT_OUT
from .component import ComponentExamination

# what hangs on the order of axes in which it is called, and on what it is given
_OF_CALLERS = {"attention-over-batch-axis", "head-on-all-tokens"}
_OF_ONE_HEAD = {"num-heads-ignored", "output-projection-missing"}
_OF_A_BLOCK = {"norm-inside-component", "residual-inside-component"}
_ATTENDING = ("attention", "attention_head", "dot_product_attention")
_ADDING = ("class_token", "positions")  # which are not there at all where they leave out what they add
_AROUND = {"post_attention_norm", "post_mlp_norm"}
_SEVERAL = 2  # blocks, of which a stack is made
_HALVES = {  # of a block, by what is said where the other one is not there
    "mlp-left-out": ("block_input", *COMPONENTS["attention"].stages),
    "attention-left-out": ("post_attention_norm", *COMPONENTS["mlp"].stages),
}
_NOT_ADDED, _SUM_OF_IT = "mlp-result-dropped", {"post_mlp_norm", "block_output"}
_NOTHING_LEARNED = "layernorm-no-affine"


def stages_shown(own: Sequence[str], part: ComponentExamination, whole: Examination) -> Sequence[str]:
    """Return those of its ``own`` stages, by key, that it computes, right or wrong in a known way.

    None where it is rather something else, or too little of it is known.
    """
    found = {step.key for step in part.walk.steps}
    if _is_rather_another(part, whole):
        return ()
    has_sums = found >= _AROUND  # around what does nothing
    halves = [stages for id, stages in _HALVES.items() if id in part.walk.ids]
    if part.row.key == "block" and halves and not (part.passed_on and has_sums):  # the other one is to come
        return _without_end([key for key in own if key in halves[0]], part)
    if part.passed_on:
        return own if (has_sums or part.row.key == "head") and _is_such(part) else ()
    unknown = () if part.candidate.named else {key for key, _ in part.unexplained}
    stages = part.row.stages
    is_there = 2 * len(found.intersection(stages).difference(unknown)) > len(stages) and _is_such(part)
    if part.row.key in _ADDING:
        is_there = is_there and not any(one.endswith(LEFT_OUT) for one in part.walk.ids)
        # anything may be multiplied by a vector
        is_there = is_there and (part.candidate.named or not _wrong(part))
    if part.row.key == "block":  # of which a part may be a placeholder, and the others are looked at alone
        is_there = is_there and found.issuperset(stages) and _is_whole(part, whole)
    return _without_end(own, part) if is_there else ()


def _is_rather_another(part: ComponentExamination, whole: Examination) -> bool:
    """Is it an encoder alone, a single block, lines of a block, or a norm of which nothing is to be told?"""
    ids, candidate = part.walk.ids, part.candidate
    match part.row.key:
        case "model_of_patches":
            return "pos-missing" in ids
        case "encoder":
            return part.walk.blocks < _SEVERAL and not candidate.named
        case "attention" | "attention_head" | "mlp":
            return part.is_of_lines and not ids.isdisjoint(_OF_A_BLOCK)
        case "layer_norm":
            return not (candidate.named and _wrong(part) and _is_news(part, whole))
    return False


def _is_news(norm: ComponentExamination, whole: Examination) -> bool:
    """Which of a block's norms it will be is not written yet: is anything told that no stage tells so far?

    What it learns may come later.
    """
    told = whole.walk.ids if whole.examples else frozenset()
    return bool(norm.walk.ids - {_NOTHING_LEARNED}) and norm.walk.ids.isdisjoint(told)


def _wrong(part: ComponentExamination) -> set[str]:
    return {key for key in part.keys if key not in part.to_write and part.is_wrong(key)}


def _is_such(part: ComponentExamination) -> bool:
    """Is it right, or wrong in a known way, or in one place, which is not its end unless its name says so?

    Else it may be something else, such as several blocks, or one head.
    """
    unknown = {key for key, _ in part.unexplained} | {*part.missing} | (_OF_CALLERS & part.walk.ids)
    wrong = _wrong(part)
    is_seen = any(one.found is not None for one in part.walk.steps[:-1])
    is_meant = part.candidate.named and part.row.key in _ATTENDING and is_seen and len(wrong) == 1
    ends = () if is_meant else part.row.stages[-1:]
    begins = part.row.stages[:1] if part.is_of_lines else ()  # what they read may be anything
    odd = (*part.missing, *begins, *ends, *_OF_CALLERS)
    is_near = len(unknown) <= 1 and unknown.isdisjoint(odd)
    return not wrong or (is_near and not part.walk.ids.issuperset(_OF_ONE_HEAD))


def _is_whole(block: ComponentExamination, whole: Examination) -> bool:
    """Is all of it right, or does nothing in it end early but what the pass ends with?"""
    if not _wrong(block):
        return True
    ended = None if whole.unbuilt else whole.unfinished
    end = ended.frame if ended else None
    return all(one == end for one in early_ends(whole.source.files, block.candidate.name))


def _without_end(keys: Sequence[str], part: ComponentExamination) -> Sequence[str]:
    """Those before the last ones that leave something out, where the code of the part ends early."""
    if not part.ends_early:
        return keys
    told = (one for step in part.walk.steps for one in step.findings)
    lacking = {one.stage for one in told if one.id.endswith(LEFT_OUT) and one.id not in _HALVES}
    if part.is_of_lines and _NOT_ADDED in part.walk.ids:  # what is computed last is to be added yet
        lacking |= _SUM_OF_IT
    return keys[: max((at for at, key in enumerate(keys, 1) if key not in lacking), default=0)]
