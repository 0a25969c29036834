"""The backward pass, and every block that is built: what moves the scores is what learns, by as much."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from ...examining.drawing import Draw
from ...examining.examination import Examination
from ...examining.passes.example import Example
from ...examining.verdicts import CheckFailed, NotAsked
from . import holds
from .deeper import demand_the_same
from .gradients import NO_GRADIENT, cut
from .passes import example_of, leaves_of, same, some

# Rounding and curvature part the two by 1e-5 of the spread, and in code that computes in float32 on the way
# by 1e-2. One parameter among 150 whose gradient has the wrong sign parts them by 0.1.
_APART = 0.05
_NUMBER = re.compile(r"(?<=\.)\d+(?=\.|$)")  # of a block in the name of a parameter


@holds(order=120)
def backward_pass(examination: Examination) -> None:
    """The gradients agree with the measured slopes of the logits.

    Else: The gradients do not agree with the measured slopes of the logits
    """
    example_of(examination)
    draw, slopes = examination.slopes()
    if (error := slopes.error) is not None:
        text = f"with {draw.sizes.depth} blocks the backward pass fails: {error}"
        raise CheckFailed(text, (), draw, error.frame)
    if not slopes.spread:
        raise NotAsked("the model is too large to measure its slopes, or nothing in it learns")
    if not abs(slopes.claimed - slopes.measured) <= _APART * slopes.spread:
        text = (
            f"by the gradients a small step should change the logits by {slopes.claimed:.3g}, but it changes"
            f" them by {slopes.measured:.3g}"
        )
        raise _told(examination, text, (), draw)


@holds(order=120)
def every_block(examination: Examination) -> None:
    """Every block affects the logits, learns, and has its own weights.

    Else: Not every block affects the logits, learns, and has its own weights
    """
    example = example_of(examination)
    draw, slopes = examination.slopes()
    depth = draw.sizes.depth
    if (error := slopes.error) is not None:
        raise CheckFailed(f"with {depth} blocks the model fails: {error}", (), draw, error.frame)
    starved = _starved(slopes.gradients, depth)
    if starved:
        text = f"in some of {depth} blocks nothing learns: no gradient reaches {some(starved)}"
        raise _told(examination, text, ("hard-coded-first-blocks",), draw)
    for form in _forms_of_blocks(example):
        found = sum(form in _forms(name) for name in slopes.gradients)
        if found < depth:
            text = f"only {found} of {depth} blocks have their own {form}"
            raise CheckFailed(text, ("blocks-share-one-instance",), draw)
    deeper = examination.deeper()
    if deeper is not None:
        demand_the_same(examination, deeper, f"with {deeper.draw.sizes.depth} blocks")


def _told(examination: Examination, text: str, ids: tuple[str, ...], draw: Draw) -> CheckFailed:
    """The failure; where the code keeps a gradient from going on, that is the cause."""
    passes, found = examination.plain().passes, cut(examination)
    # what is kept from pass to pass is let go of, too
    if found is None or not passes or not same(passes[0].tensors, passes[-1].tensors):
        return CheckFailed(text, ids, draw)
    id, where, frame = found
    return CheckFailed(text + where, (id,), draw, frame)


def _starved(gradients: Mapping[str, float], depth: int) -> list[str]:
    """A parameter of each block in which none has a gradient, though their like in other blocks have one.

    One alone may have none for another reason, such as a bias before statistics over the batch.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in gradients:
        for form in _forms(name):
            alike[form].append(name)
    rows = [names for names in alike.values() if len(names) == depth]
    idle = [all(gradients[name] < NO_GRADIENT for name in block) for block in zip(*rows)]
    return [] if all(idle) else [name for name, alone in zip(rows[0], idle) if alone]


def _forms(name: str) -> Iterator[str]:
    """The name with each of its numbers left open in turn."""
    for found in _NUMBER.finditer(name):
        yield f"{name[: found.start()]}…{name[found.end() :]}"


def _forms_of_blocks(example: Example) -> list[str]:
    """Names of what each block has of its own, with the number of the block left open."""
    forms: set[str] = set()
    for role in example.walk.roles:
        if role.startswith("block1."):
            first, second = (
                leaves_of(example, role.replace("block1", block)) for block in ("block1", "block2")
            )
            for one, other in zip(first, second):
                if one.name != other.name:
                    forms |= set(_forms(one.name)) & set(_forms(other.name))
    return sorted(forms)
