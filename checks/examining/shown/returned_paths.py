"""Is what was located as the class scores what the model returns? Decoys beside the answer earn nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torch import Tensor

from ....reference.model_sizes import ModelSizes
from ...locating.anatomy import anatomy_of
from ...locating.search.returned_scores import Output, candidates, is_label, outputs_of
from ...locating.steps import Finding
from ..passes.example import Example
from ..passes.examples import Examples
from ..passes.steadiness import demand_steady
from ..stops import same_in_some_layout
from ..verdicts import CheckFailed


def demand_returned(examples: Examples) -> None:
    """Raises CheckFailed where a model does not return its logits, or more scores than follow from them.

    What is called logits or scores counts first, then what comes first; every other tensor of that layout,
    and every label, must follow from the logits, so that it is the same which of them is read.
    """
    if examples.session.is_script:
        return
    demand_steady(examples.parted)
    if examples.varying is not None:
        text = "The logits change from pass to pass, for the same image and the same weights."
        raise CheckFailed(text, (), examples.varying)
    label, paths = examples.family.stage("logits").label, paths_of_scores(examples.examples)
    told_at = {step.key for step in examples.walk.steps if not step.explained}
    for example in examples.examples:
        if example.trace.error is not None or (example.walk.unexplained or ("", 0))[0] in told_at:
            continue  # it could not be followed beyond what is wrong at other sizes, too
        told = next(_complaints(example, paths, label), None)
        if told is not None:
            raise CheckFailed(told, (), example.draw)


def nothing_returned(examples: Examples) -> list[Finding]:
    """Where a model computes its logits, and returns nothing."""
    first = examples.examples[0] if examples.examples else None
    if first is None or examples.session.is_script or first.first("logits") is None:
        return []
    if not examples.walk.trace.begun or examples.walk.trace.outputs:
        return []
    return [Finding("nothing-returned", "logits", None)]


def demand_any_returned(examples: Examples) -> None:
    """Raises CheckFailed where a model returns nothing at all."""
    label = examples.family.stage("logits").label
    for one in nothing_returned(examples):
        raise CheckFailed(
            f"{label} is computed, and forward ends without it.", (one.id,), examples.first_draw
        )


def paths_of_scores(examples: Sequence[Example]) -> list[str]:
    """Where tensors are that have the layout of scores in every example, and none by accident.

    What may stand for the scores comes first. Where classes are as many as something else in every example,
    only what is called scores is taken for them.
    """
    ran = [one for one in examples if one.trace.error is None]
    if not ran:
        return []
    first, *others = (candidates(outputs_of(one.trace), one.draw.sizes.output_shape) for one in ran)
    always = [one for one in first if all(one.path in {other.path for other in row} for row in others)]
    told_apart = any(_tells_classes(one.draw.sizes) for one in ran)
    named = [one for one in always if one.rank <= 1]
    return [one.path for one in (always if told_apart or not named else named)]


def _tells_classes(sizes: ModelSizes) -> bool:
    """Is there no other axis with as many entries as there are classes?"""
    return list(sizes.axes.values()).count(sizes.output_shape[-1]) == 1


def _complaints(example: Example, paths: Sequence[str], label: str) -> Iterator[str]:
    """What is wrong with what is returned, in sentences."""
    seen, outputs = example.first("logits"), {one.path: one for one in outputs_of(example.trace)}
    if seen is None:
        yield f"{label} could not be recognised in what the model returns at these sizes."
        return
    scores = [outputs[path] for path in paths if path in outputs]
    yield from _not_made(example, seen.student, [*outputs.values()], scores[:1], label)
    for path, why in example.trace.left_out:
        if (one := Output(path, seen.student, "")).is_called_scores:
            yield f"{_called(one)} {why}, so the logits cannot be read from it."
    # what one of them is called says which it is
    others = [one for one in scores[1:] if one.is_called_scores or not scores[0].is_called_scores]
    for output in others:
        if not _may_stand_beside(example, output, seen.student):
            yield (
                f"{_called(output)} has the shape of the logits, but is not computed from those at "
                f"{scores[0].path!r}. Beside the logits return only what is"
                " made of them, or has another shape."
            )
    best = seen.student.argmax(-1).double()
    for output in outputs.values():
        if is_label(output, seen.student.shape) and not output.is_one_of([best]):
            yield f"{_called(output)} is one number for each image, but not the class with the largest logit."


def _not_made(
    example: Example, logits: Tensor, outputs: list[Output], scores: list[Output], label: str
) -> Iterator[str]:
    """A sentence where the scores, or what is called logits, are not made of the logits."""
    made = list(anatomy_of(example.walk.family).answers(logits))
    wanted = scores + [one for one in outputs if one.is_called_logits and one not in scores]
    wrong = [one for one in wanted if not _stands_for(one, made)]
    if wanted and wrong:
        yield f"{_called(wrong[0])} is not computed from {label} of this pass."
    is_other = not wanted and not example.trace.gives_back_image
    if is_other and not any(_stands_for(one, made) for one in outputs):
        yield f"What the model returns is not computed from {label} of this pass."


def _may_stand_beside(example: Example, one: Output, logits: Tensor) -> bool:
    """Does it follow from the scores, is it too coarse for scores and not called so, or an earlier stage?

    Where there are as many classes as features, such a stage has the scores' shape.
    """
    if one.is_whole and not (one.is_called_scores or one.is_called_probabilities):
        return True
    known = [*anatomy_of(example.walk.family).answers(logits), *(seen.student for seen in example.seen)]
    return one.is_one_of(known) or one.follows_from(logits)


def _called(one: Output) -> str:
    return f"What is returned as {one.path!r}" if one.path else "What the model returns"


def _stands_for(one: Output, made: Sequence[Tensor]) -> bool:
    """Is it what is made of the logits; where it may be of every token, for the first?"""
    return one.is_one_of(made) or any(
        same_in_some_layout(part, other) for other in made for part in _of_class_token(one.tensor)
    )


def _of_class_token(tensor: Tensor) -> Iterator[Tensor]:
    if tensor.dim() == 3 and tensor.shape[1]:
        yield tensor[:, 0]
