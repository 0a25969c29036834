"""What grading a correct submission costs once all is started, beside the forward passes that it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any
from unittest.mock import patch

import torch
from common import ASSIGNMENT, CORRECT_MODELS, show
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from vitcheck.checks.grading.grading import grade
from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.child.building.recipe import Recipe, infer
from vitcheck.submissions.child.loading.execution import load
from vitcheck.submissions.child.tracing.tracing import Tracer
from vitcheck.submissions.host.conversation import Child
from vitcheck.submissions.host.process import Zygote
from vitcheck.submissions.host.session import Session
from vitcheck.submissions.questions.pins import Pins
from vitcheck.submissions.questions.plain_passes import RunPasses
from vitcheck.submissions.questions.question import OfModel, Question
from vitcheck.submissions.questions.recording import RecordPass
from vitcheck.submissions.reading.source import read_source

_RUNS = 5
_HEAD = (
    *("submission", "parent", "child", "both"),
    *("passes", "traced", "all plain", "as asked", "both ÷ plain", "both ÷ as asked"),
)


@dataclass(frozen=True)
class Pass:
    """One forward pass that was asked for."""

    sizes: Sizes
    image: Tensor
    traced: bool


@dataclass
class Cost:
    """Processor seconds of one grading, and what they were spent for."""

    parent: float = 0.0
    child: float = 0.0
    passes: list[Pass] = field(default_factory=list)


@contextmanager
def watching(cost: Cost) -> Iterator[None]:
    """Note what a child is asked, and what it has used in the end."""
    ask, close = Session.ask, Child.close

    def noting(session: Session, question: Question[Any]) -> Any:
        if isinstance(question, OfModel):
            traced = isinstance(question, RecordPass)
            cost.passes += [Pass(question.sizes, image, traced) for image in images_of(question)]
        return ask(session, question)

    def closing(child: Child) -> None:
        close(child)
        assert child.usage is not None
        cost.child = child.usage.cpu_seconds

    with patch.object(Session, "ask", noting), patch.object(Child, "close", closing):
        yield


def images_of(question: Question[Any]) -> list[Tensor]:
    """The image of each forward pass; a pass on shapes alone has none, and is not counted."""
    if isinstance(question, RunPasses):
        images = [question.images[number] for number in question.order]
        return [*images, *(images[-1:] if question.backward else [])]
    image = getattr(question, "image", None)
    return [] if image is None else [image]


def grading(path: Path, zygote: Zygote) -> Cost:
    """Grade once."""
    cost = Cost()
    with watching(cost):
        began = process_time()
        result = grade(path, ASSIGNMENT, zygote=zygote)
        cost.parent = process_time() - began
    assert result.score.earned == result.score.possible, result.to_json()
    return cost


def plain_pass(model: nn.Module, image: Tensor) -> None:
    """As the student would make it."""
    model(image)


def traced_pass(model: nn.Module, image: Tensor) -> None:
    """As the child records it."""
    tracer = Tracer(model, image)
    with sdpa_kernel(SDPBackend.MATH), tracer:
        model(image)


def seconds_of(recipe: Recipe, passes: Iterable[Pass], traced: bool) -> float:
    """Processor seconds of passes repeated in this process, without those for building the model.

    Without ``traced`` all of them are plain; with it, those are traced that were.
    """
    seconds = 0.0
    for one in passes:
        model, image = recipe.build(one.sizes).eval(), one.image.double()
        run = traced_pass if traced and one.traced else plain_pass
        began = process_time()
        run(model, image)
        seconds += process_time() - began
    return seconds


def row(path: Path, costs: list[Cost]) -> tuple[object, ...]:
    """Medians of the gradings, and of their passes repeated."""
    recipe = infer(load(read_source(path).files), Pins())
    parent = median(one.parent for one in costs)
    child = median(one.child for one in costs)
    both = median(one.parent + one.child for one in costs)
    plain = median(seconds_of(recipe, one.passes, traced=False) for one in costs)
    traced = median(seconds_of(recipe, one.passes, traced=True) for one in costs)
    passes = costs[0].passes
    counts = len(passes), sum(one.traced for one in passes)
    return path.name, parent, child, both, *counts, plain, traced, both / plain, both / traced


def main() -> None:
    """Print the table, in processor seconds; the first grading of each warms up."""
    with Zygote() as zygote:
        costs = {path: [grading(path, zygote) for _ in range(1 + _RUNS)][1:] for path in CORRECT_MODELS}
    torch.set_default_dtype(torch.float64)
    show(_HEAD, [row(path, runs) for path, runs in costs.items()])


if __name__ == "__main__":
    main()
