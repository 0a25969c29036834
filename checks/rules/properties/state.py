"""A pass leaves nothing behind: not in the image, the model, the random state, nor in memory."""

from __future__ import annotations

from ....submissions.errors import Frame
from ....submissions.questions.plain_passes import Passes
from ...examining.examination import Examination
from ...examining.verdicts import CheckFailed
from . import holds
from .passes import example_of, line_of, same, some, sound

_RANDOM_CALLS = {  # what draws numbers in eval mode, and what that is called; all else is drawn on purpose
    "dropout": "functional-dropout-always-on",
    "scaled_dot_product_attention": "sdpa-dropout-in-eval",
    "multi_head_attention_forward": "sdpa-dropout-in-eval",
}


@holds(order=30, begun=True, of_parts=True)
def repeatable(examination: Examination) -> None:
    """In eval mode the same image gives exactly the same logits, also with another image in between.

    Else: In eval mode the same image gives different logits
    """
    draw = example_of(examination).draw
    passes = examination.plain()
    if passes.error is not None and passes.passes:
        text = f"the first pass runs, and one after it over an image of the same size fails: {passes.error}"
        raise CheckFailed(text, ("state-leak",), draw, passes.error.frame)
    sound(passes, draw)
    first, second, _, last = (one.tensors for one in passes.passes)
    if not same(first, second):
        id, why, frame = _why_random(examination, passes)
        raise CheckFailed(f"two passes in eval mode over the same image differ{why}", (id,), draw, frame)
    if not same(first, last):
        text = "the logits of an image depend on the images before it"
        raise CheckFailed(text, ("state-leak",), draw, _overwriting(examination))


def _why_random(examination: Examination, passes: Passes) -> tuple[str, str, Frame | None]:
    """The id, the rest of the sentence, and the line."""
    if passes.created:
        return "params-created-in-forward", f": {some(list(passes.created))} is created anew in each", None
    drawing = [one for one in examination.habits() if one.kind == "random"]
    if not drawing:
        return "state-leak", ", although no random numbers are drawn", _overwriting(examination)
    what, frame = drawing[0].what, drawing[0].frames[0]
    made = {one.what for one in examination.habits() if one.kind == "module"}
    if "dropout" in what and any("Drop" in name for name in made):
        why = f": the dropout layer is created in {line_of(drawing[0])}, so it is always in train mode"
        return "dropout-built-in-forward", why, frame
    family = "dropout" if "dropout" in what else what
    id = _RANDOM_CALLS.get(family, "rng-consumed-in-eval")
    return id, f": {what} draws random numbers in {line_of(drawing[0])}", frame


def _overwriting(examination: Examination) -> Frame | None:
    """The first line that writes into what was there before the pass, if one does."""
    records = example_of(examination).trace.records
    into = (one.frames[:1] for one in records if one.writes and one.inputs[0].kind == "leaf")
    return next((frame for frames in into for frame in frames), None)


@holds(order=30, begun=True)
def no_side_effects(examination: Examination) -> None:
    """A pass in eval mode does not change the image, the parameters, the mode or the random state.

    Else: A pass in eval mode has side effects
    """
    draw = example_of(examination).draw
    passes = sound(examination.plain(), draw)
    first = passes.passes[0]
    if not same((first.image_after,), (draw.image,)):
        text = "the forward pass writes into its input image"
        trace = example_of(examination).trace
        frame = next(iter(trace.value(trace.image).frames), None)
        raise CheckFailed(text, ("input-mutated-in-place",), draw, frame)
    if passes.created and not examination.is_of_lines:
        text = f"the forward pass creates parameters: {some(list(passes.created))}"
        raise CheckFailed(text, ("params-created-in-forward",), draw)
    if passes.changed:
        text = f"the forward pass changes {some(list(passes.changed))}"
        raise CheckFailed(text, ("state-leak",), draw, _overwriting(examination))
    if not first.mode_kept:
        raise CheckFailed("the forward pass switches between train and eval mode", (), draw)
    if not first.random_state_kept:
        _blame_random_state(examination, passes)


def _blame_random_state(examination: Examination, passes: Passes) -> None:
    """Passes begin in different random states: where they end in the same one, it has been set."""
    draw = examination.first_draw
    if len({one.random_state for one in passes.passes}) == 1:
        text = "the forward pass sets the global random seed"
        raise CheckFailed(text, ("reseeds-in-forward",), draw)
    text, id, frame = "the forward pass draws random numbers in eval mode", "rng-consumed-in-eval", None
    for drawing in [one for one in examination.habits() if one.kind == "random"][:1]:
        text, frame = f"{text}: {drawing.what} in {line_of(drawing)}", drawing.frames[0]
    if not same(*(one.tensors for one in passes.passes[:2])):  # what is computed depends on them
        id, _, _ = _why_random(examination, passes)
    raise CheckFailed(text, (id,), draw, frame)


@holds(order=30, begun=True)
def memory_does_not_grow(examination: Examination) -> None:
    """Stored tensors (such as attention maps) do not leak memory over passes.

    Else: Stored tensors leak memory over passes
    """
    draw = example_of(examination).draw
    passes = sound(examination.backward(), draw)
    if len(passes.graphs_kept) == 2 and passes.graphs_kept[0] < passes.graphs_kept[1]:
        text = "with each pass the model keeps more tensors with their autograd graph"
        raise CheckFailed(text, ("keeps-graph-in-maps",), draw)
