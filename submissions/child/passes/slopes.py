"""Child side: what a backward pass says of every parameter, beside what the scores really do.

All parameters and the image are moved at once, each by a part that its gradient gives the same weight: where
the gradient of one of them is wrong, the scores move by another amount than all gradients together say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from functools import partial

import torch
from torch import Tensor, nn

from ...questions.randomise import draws
from ...questions.uses import MeasureSlopes, Slopes
from ..building.probing import as_given
from ..child import failure_in_bounds
from ..dtypes import default_dtype
from ..subject import model_of
from ..tracing.results import results_in
from .plain import begin_pass, random_sum

# The largest step, of a parameter's own length: curvature then adds 1e-6 of a slope, and code that computes
# in float32 on the way 1e-4.
_STEP = 1e-3
_NEARER = 1e-3  # of that step, where the larger one crosses kinks, such as those of ReLU
_KINKED = 0.01  # of the spread
_LEAST = 0.01  # of the largest slope: what moves the scores by less is not stepped farther than this


def slopes(asked: MeasureSlopes) -> Slopes:
    """In train mode where nothing is random there, else in eval mode."""
    model = model_of(asked)
    image = as_given(asked.image, torch.float64)
    try:
        with default_dtype(torch.float64):
            _choose_mode(model, image)
            return _finite(_slopes(model, image, asked.measured))
    except (Exception, SystemExit) as raised:
        return Slopes({}, error=failure_in_bounds(raised))


def _finite(found: Slopes) -> Slopes:
    """The same; raises FloatingPointError where some of it is no number, for which there is no reply."""
    if all(map(math.isfinite, (*found.gradients.values(), found.claimed, found.measured, found.spread))):
        return found
    raise FloatingPointError("a gradient, or what the model returns, is NaN or infinite")


def _choose_mode(model: nn.Module, image: Tensor) -> None:
    """Leaves the model in train mode where a pass runs there, and draws nothing."""
    begin_pass(0)
    model.train()
    try:
        with torch.no_grad():
            model.train(not draws(lambda: model(image.clone())))
    except Exception:  # which is told where train mode is looked at
        model.eval()


def _slopes(model: nn.Module, image: Tensor, measured: bool) -> Slopes:
    named = dict(model.named_parameters())
    moved: list[Tensor] = [one for one in named.values() if one.requires_grad]
    if image.is_floating_point():
        moved.append(image.requires_grad_())
    returned = [(path, one) for path, one in _returned(model, image) if one.requires_grad]
    total, learning = random_sum(one for _, one in returned), {path for path, _ in returned}
    found = torch.autograd.grad(total, moved, allow_unused=True) if total.requires_grad else ()
    pairs = [(one, gradient) for one, gradient in zip(moved, found) if gradient is not None and one.numel()]
    largest = {id(one): float(gradient.abs().max()) for one, gradient in pairs}
    gradients = {name: largest.get(id(one), 0.0) for name, one in named.items()}
    return Slopes(gradients, *(_measured(model, image, pairs, learning) if measured and pairs else ()))


def _measured(
    model: nn.Module, image: Tensor, pairs: Sequence[tuple[Tensor, Tensor]], learning: Set[str]
) -> tuple[float, float, float]:
    """The slope that gradients claim, the one that is measured, and its spread."""
    steps = _steps(pairs)
    parts = [float((gradient * step).sum()) for (_, gradient), step in zip(pairs, steps)]
    claimed, spread = sum(parts), math.sqrt(sum(part * part for part in parts))
    moved = [(one, step) for (one, _), step in zip(pairs, steps)]
    total = partial(_total, model, image, learning)
    measured = _rise(total, moved, 1.0)
    if not abs(claimed - measured) <= _KINKED * spread:
        nearer = _rise(total, moved, _NEARER)
        measured = min(measured, nearer, key=lambda one: abs(claimed - one))
    return claimed, measured, spread


def _rise(total: Callable[[], Tensor], moved: Sequence[tuple[Tensor, Tensor]], part: float) -> float:
    """By how much the ``total`` rises in a step, measured on this part of it to either side."""
    totals = []
    with torch.no_grad():
        for sign in (1, -1):
            before = [one.clone() for one, _ in moved]
            for one, step in moved:
                one += sign * part * step
            totals.append(float(total()))
            for (one, _), old in zip(moved, before):
                one.copy_(old)
    return (totals[0] - totals[1]) / (2 * part)


def _steps(pairs: Sequence[tuple[Tensor, Tensor]]) -> list[Tensor]:
    """Along each gradient and off it, with a random sign, so that each moves the scores alike."""
    generator = torch.Generator().manual_seed(11)
    lengths = [float(one.detach().norm()) or 1.0 for one, _ in pairs]
    sizes = [float(gradient.norm()) for _, gradient in pairs]
    largest = max(size * length for size, length in zip(sizes, lengths)) or 1.0
    steps = []
    for (_, gradient), length, size in zip(pairs, lengths, sizes):
        off = torch.randn(gradient.shape, generator=generator, dtype=gradient.dtype)
        sign = 1.0 if float(torch.rand((), generator=generator)) < 0.5 else -1.0
        direction = sign * gradient / (size or 1.0) + off / math.sqrt(off.numel())
        steps.append(direction * (_STEP * _LEAST * largest * length / max(size * length, _LEAST * largest)))
    return steps


def _total(model: nn.Module, image: Tensor, learning: Set[str]) -> Tensor:
    """A random sum of what is returned on these paths.

    What is returned beside the scores, such as attention to be looked at, may be detached by right.
    """
    return random_sum(one for path, one in _returned(model, image) if path in learning)


def _returned(model: nn.Module, image: Tensor) -> list[tuple[str, Tensor]]:
    begin_pass(0)
    found = results_in(model(image.clone())).tensors
    return [(path, one) for path, one in found if one.is_floating_point()]
