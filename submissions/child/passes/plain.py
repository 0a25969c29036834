"""Child side: plain forward passes, and what they leave behind."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.modules.module import register_module_parameter_registration_hook

from ...questions.plain_passes import Gradient, Passes, PlainPass
from ...questions.randomise import named_tensors, seed_random_state
from ..child import failure_in_bounds
from ..tracing.results import described, results_in
from .begun_pass import BegunPass


def plain_passes(
    model: nn.Module,
    images: Sequence[Tensor],
    modes: Sequence[str],
    backward: bool,
    switches: bool,
    begun: bool,
) -> Passes:
    """Passes over ``images`` in turn, each in its mode, and a backward pass on the last if asked for.

    An exception that the model raises is in the answer; running out of memory is not. Of what is ``begun``,
    it may end with one.
    """
    passes: list[PlainPass] = []
    created: list[str] = []
    gradients: dict[str, Gradient] = {}
    graphs_kept: tuple[int, ...] = ()
    error = None
    learned = _values(model.named_parameters())
    kept: dict[str, Tensor] = {}  # as a first pass leaves it, which may fill what later ones read
    moved: dict[str, None] = {}
    options = _switches(model) if switches else {}
    run = BegunPass(model) if begun else model
    try:
        with _parameters_made(created):
            for number, (image, mode) in enumerate(zip(images, modes)):
                model.train() if mode == "train" else model.eval()
                with torch.set_grad_enabled(mode == "graph"):
                    passes.append(_one_pass(model, partial(run, image, **options), image, number))
                if number:
                    moved |= dict.fromkeys(_changed(kept, dict(model.named_buffers())))
                else:
                    kept = _values(model.named_buffers())
            if backward:
                gradients = _gradients(model, partial(run, images[-1]))
                graphs_kept = _graphs_kept(model, partial(run, images[-1]))
    except (Exception, SystemExit) as raised:
        error = failure_in_bounds(raised)
    changed = [*_changed(learned, dict(model.named_parameters())), *moved]
    return Passes(tuple(passes), tuple(changed), tuple(created), gradients, graphs_kept, error)


def _values(named: Iterable[tuple[str, Tensor]]) -> dict[str, Tensor]:
    """What is registered; what a model keeps beside it, such as attention maps to be plotted, is its own."""
    return {name: one.detach().clone() for name, one in named}


def _changed(before: Mapping[str, Tensor], after: Mapping[str, Tensor]) -> Iterator[str]:
    return (name for name, one in before.items() if name not in after or not torch.equal(one, after[name]))


@contextmanager
def _parameters_made(names: list[str]) -> Iterator[None]:
    """Adds to ``names`` each parameter that any module gets meanwhile."""
    handle = register_module_parameter_registration_hook(
        lambda module, name, _: names.append(f"{type(module).__name__}.{name}")
    )
    try:
        yield
    finally:
        handle.remove()


def _switches(model: nn.Module) -> dict[str, bool]:
    parameters = inspect.signature(model.forward).parameters.values()
    return {one.name: True for one in parameters if one.default is False}


def begin_pass(number: int) -> None:
    """Puts torch into the random state of a pass: traced or not, the first draws the same numbers."""
    seed_random_state(1_000_003 + number)  # unusual: a model that seeds by itself shows


def _one_pass(model: nn.Module, run: Callable[[], object], image: Tensor, number: int) -> PlainPass:
    begin_pass(number)
    random_state, training = torch.get_rng_state(), model.training
    found = results_in(run()).tensors
    return PlainPass(
        outputs=described(found),
        tensors=tuple(one.detach().double().contiguous() for _, one in found),
        image_after=image,
        random_state_kept=torch.equal(random_state, torch.get_rng_state()),
        random_state=hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest()[:16],
        mode_kept=model.training == training,
    )


def _gradients(model: nn.Module, run: Callable[[], object]) -> dict[str, Gradient]:
    """What one backward pass, from a random sum of all outputs, gives each parameter that holds a number."""
    model.zero_grad()
    total = random_sum(one for _, one in results_in(run()).tensors if one.requires_grad)
    if total.requires_grad:
        total.backward()  # type: ignore[no-untyped-call]  # torch has no annotation for it
    gradients = {}
    for name, parameter in model.named_parameters():
        if not parameter.numel():
            continue
        gradient = parameter.grad
        finite = gradient is None or bool(torch.isfinite(gradient).all())
        size = float(gradient.abs().max()) if gradient is not None and finite and gradient.numel() else 0.0
        gradients[name] = Gradient(
            asked=parameter.requires_grad,
            exists=gradient is not None,
            finite=finite,
            largest=size,
            idle=_idle(gradient),
        )
    return gradients


def random_sum(outputs: Iterable[Tensor]) -> Tensor:
    """Every number of all of them, each with a random weight."""
    generator = torch.Generator().manual_seed(7)
    total = torch.zeros((), dtype=torch.float64)
    for one in outputs:
        total = total + (one * torch.randn(one.shape, generator=generator, dtype=torch.float64)).sum()
    return total


def _idle(gradient: Tensor | None) -> float:
    """The share of rows in which it is 0 everywhere, or of columns, where these are more."""
    if gradient is None or not gradient.numel():
        return 0.0
    rows = gradient.reshape(gradient.shape[0] if gradient.dim() else 1, -1)
    return max(float((rows == 0).all(axis).double().mean()) for axis in (0, 1))


def _graphs_kept(model: nn.Module, run: Callable[[], object]) -> tuple[int, ...]:
    """How many tensors with their graph the model holds after each of two more passes."""
    found = []
    for _ in range(2):
        run()
        found.append(sum(one.grad_fn is not None for _, one in named_tensors(model)))
    return tuple(found)
