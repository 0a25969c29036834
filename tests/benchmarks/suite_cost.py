"""What grading a correct submission costs once all is started, beside the forward passes that it asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any
from unittest.mock import patch

import torch
from common import ASSIGNMENT, CORRECT_EXAMPLES, show
from torch import Tensor, nn
from tracing_helpers import trace_model

from vitcheck.checks.grading import grade
from vitcheck.reference.sizes import Sizes
from vitcheck.submissions.conversation import Child
from vitcheck.submissions.loading import load
from vitcheck.submissions.process import Zygote
from vitcheck.submissions.recipe import Pins, Recipe, infer
from vitcheck.submissions.source import read_source

_RUNS = 5
_HEAD = (
    "submission",
    "parent",
    "child",
    "both",
    "passes",
    "plain",
    "traced",
    "both ÷ plain",
    "both ÷ traced",
)


@dataclass
class Cost:
    """Processor seconds of one grading, and the forward passes that were asked for."""

    parent: float = 0.0
    child: float = 0.0
    passes: list[tuple[Sizes, Tensor]] = field(default_factory=list)


@contextmanager
def watching(cost: Cost) -> Iterator[None]:
    """Note what a child is asked, and what it has used in the end."""
    request, close = Child.request, Child.close

    def noting(
        child: Child, header: Mapping[str, Any], tensors: Mapping[str, Tensor] = {}, **options: Any
    ) -> Any:
        cost.passes += [(Sizes(**header["sizes"]), image) for image in images_of(header, tensors)]
        return request(child, header, tensors, **options)

    def closing(child: Child) -> None:
        close(child)
        assert child.usage is not None
        cost.child = child.usage.cpu_seconds

    with patch.object(Child, "request", noting), patch.object(Child, "close", closing):
        yield


def images_of(header: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> list[Tensor]:
    """The image of each forward pass; a pass on shapes alone has none, and is not counted."""
    names = header.get("images", ["image"] if "image" in tensors else [])
    again = names[-1:] if header.get("backward") else []
    return [tensors[name] for name in [*names, *again]]


def grading(path: Path, zygote: Zygote) -> Cost:
    """Grade once."""
    cost = Cost()
    with watching(cost):
        began = process_time()
        result = grade(path, ASSIGNMENT, zygote=zygote)
        cost.parent = process_time() - began
    assert result.score.earned == result.score.possible, result.to_json()
    return cost


def passing(recipe: Recipe, cost: Cost, run: Callable[[nn.Module, Tensor], object]) -> float:
    """Processor seconds of the same passes in this process, by ``run``; building the model is not counted."""
    seconds = 0.0
    for sizes, image in cost.passes:
        model = recipe.build(sizes).eval()
        began = process_time()
        run(model, image.double())
        seconds += process_time() - began
    return seconds


def plain_pass(model: nn.Module, image: Tensor) -> None:
    """As the student would make it."""
    model(image)


def row(path: Path, costs: list[Cost]) -> tuple[object, ...]:
    """Medians of the gradings, and of their passes repeated."""
    recipe = infer(load(read_source(path).files), Pins())
    parent = median(one.parent for one in costs)
    child = median(one.child for one in costs)
    both = median(one.parent + one.child for one in costs)
    plain = median(passing(recipe, one, plain_pass) for one in costs)
    traced = median(passing(recipe, one, trace_model) for one in costs)
    return path.name, parent, child, both, len(costs[0].passes), plain, traced, both / plain, both / traced


def main() -> None:
    """Print the table, in processor seconds; the first grading of each warms up."""
    torch.set_num_threads(1)
    with Zygote() as zygote:
        costs = {path: [grading(path, zygote) for _ in range(1 + _RUNS)][1:] for path in CORRECT_EXAMPLES}
    torch.set_default_dtype(torch.float64)
    show(_HEAD, [row(path, runs) for path, runs in costs.items()])


if __name__ == "__main__":
    main()
