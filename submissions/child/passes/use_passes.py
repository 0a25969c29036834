"""Child side: one model in every way in which models are used, beside the one in which it is traced."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

from ...questions.randomise import draws, named_tensors
from ...questions.uses import KEPT, REACH, TRAIN, TryUses, UseOutcome
from ..building.probing import as_given
from ..child import failure_in_bounds
from ..dtypes import default_dtype
from ..subject import model_of
from ..tracing.nothing_dropped import NothingDropped
from ..tracing.results import carried, described, results_in
from .plain import begin_pass

_MANY = 16  # images, of which some lose each branch
_ROUNDING = 1e-9  # of quotients near 1, in float64; what is no product differs from image to image
_KEPT = ("keep", "surviv")  # in the name of a rate: the share that stays, not the one that is dropped


class Uses:
    """The scores of each use by name; an exception of the student's code is the result of one use."""

    def __init__(self) -> None:
        self.all: dict[str, UseOutcome] = {}

    def run(self, name: str, scores: Callable[[], object], number: int = 0) -> None:
        try:
            begin_pass(number)
            found = results_in(scores()).tensors
            self.all[name] = UseOutcome(described(found), tuple(carried(one) for _, one in found), None)
        except (Exception, SystemExit) as raised:
            self.all[name] = UseOutcome((), (), failure_in_bounds(raised))


def uses(asked: TryUses) -> dict[str, UseOutcome]:
    images = {name: as_given(one, torch.float64) for name, one in asked.images.items()}
    image = images["image"]
    done = Uses()
    model = model_of(asked)
    loose = _loose(model)
    with default_dtype(torch.float64):
        with torch.no_grad():
            for name, one in images.items():
                done.run(name, lambda one=one: model(one.clone()))  # type: ignore[misc]  # bound now
        if not asked.few:
            done.run("gradients", lambda: model(_followed(image)))
            done.run("inference", lambda: _inferred(model, image))
            done.run("copied", lambda: _without_gradients(_copied(model), image))
        done.run("loaded", lambda: _without_gradients(_loaded(model, loose, asked, image), image))
    _smaller(done, model, asked, image)
    with default_dtype(torch.float64):
        with torch.no_grad():
            _train(done, model, image)
        _drop_some(done, model, image)
    return done.all


def _without_gradients(model: nn.Module, image: Tensor) -> object:
    begin_pass(0)
    with torch.no_grad(), default_dtype(torch.float64):
        return model(image.clone())


def _followed(image: Tensor) -> Tensor:
    """A copy that a gradient goes through, and that may be written into."""
    return image.clone().requires_grad_(image.is_floating_point()).clone()


def _inferred(model: nn.Module, image: Tensor) -> dict[str, Tensor]:
    with torch.inference_mode():
        found = results_in(model(image.clone())).tensors
    return {path: one.clone() for path, one in found}


def _copied(model: nn.Module) -> nn.Module:
    """A copy; where the model cannot be copied, that is no question of its scores."""
    try:
        return copy.deepcopy(model)
    except Exception:
        return model


def _loose(model: nn.Module) -> dict[str, Tensor]:
    """What a fresh model holds and does not save, by name."""
    saved = model.state_dict().keys()
    return {name: one.detach().clone() for name, one in named_tensors(model) if name not in saved}


def _loaded(model: nn.Module, loose: Mapping[str, Tensor], asked: TryUses, image: Tensor) -> nn.Module:
    """Another model with the weights that this one saves; it has run before, as one does that is trained on.

    What is not saved is the same in both: whether it should be is told elsewhere.
    """
    other = model_of(replace(asked, seed=asked.seed + 1))
    _without_gradients(other, image)
    with torch.no_grad():
        _put(other, loose)
    other.load_state_dict(model.state_dict())
    return other


def _put(model: nn.Module, values: Mapping[str, Tensor]) -> None:
    for name, one in named_tensors(model):
        if name in values and one.shape == values[name].shape:
            one.copy_(values[name])


def _smaller(done: Uses, model: nn.Module, asked: TryUses, image: Tensor) -> None:
    """The same numbers in a model of smaller floating point types."""
    values = {name: one.detach() for name, one in named_tensors(model)}
    small = model_of(asked, dtype=torch.float32)
    given = as_given(image, torch.float32)
    with torch.no_grad():
        _put(small, values)
        done.run("float32", lambda: small(given.clone()))


def _train(done: Uses, model: nn.Module, image: Tensor) -> None:
    """Train mode with nothing dropped; several passes where something is random all the same."""
    model.train()
    for module in model.modules():
        if isinstance(module, _NormBase):  # whose statistics of a batch are another matter
            module.eval()

    def run(number: int = 0) -> None:
        done.run(TRAIN[number], lambda: model(image.clone()), number)

    begin_pass(0)
    if draws(run) and done.all[TRAIN[0]].error is None:
        begin_pass(0)
        with _dropping(_rates(model), 0.0):
            for number in range(1, len(TRAIN)) if draws(run) else ():
                run(number)


def _drop_some(done: Uses, model: nn.Module, image: Tensor) -> None:
    """How far images reach their scores in train mode where the student's own modules drop a third.

    Nothing where there are none, or where an image holds no real numbers.
    """
    rates = [one for one in _rates(model) if not isinstance(one.module, _DropoutNd)]
    if rates and image.is_floating_point():
        many = image.repeat(-(-_MANY // len(image)), *[1] * (image.dim() - 1))
        # twice, since all images of a batch may be dropped together
        with _dropping(rates, 1 / 3), _kept(rates) as kept:
            done.run(
                REACH, lambda: torch.cat([_reach(model, many.clone().requires_grad_()) for _ in range(2)])
            )
        done.run(KEPT, lambda: torch.stack(kept) if kept else [])


@contextmanager
def _kept(rates: Sequence[_Rate]) -> Iterator[list[Tensor]]:
    """By how much modules multiply what they keep, of those that set all else in their input to 0."""
    found: list[Tensor] = []

    def look(module: nn.Module, given: tuple[object, ...], result: object) -> None:
        x = given[0] if given else None
        if isinstance(x, Tensor) and isinstance(result, Tensor) and x.shape == result.shape:
            dropped = (result == 0) & (x != 0)
            factors = (result / x)[~dropped & (x != 0)].detach()
            is_one = len(factors) > 0 and float(factors.max() - factors.min()) < _ROUNDING
            if dropped.any() and is_one:
                found.append(factors[0])

    handles = [one.register_forward_hook(look) for one in dict.fromkeys(rate.module for rate in rates)]
    try:
        yield found
    finally:
        for handle in handles:
            handle.remove()


def _reach(model: nn.Module, image: Tensor) -> Tensor:
    """The largest gradient in each image."""
    scores = [one for _, one in results_in(model(image)).tensors if one.is_floating_point()]
    (gradient,) = torch.autograd.grad(torch.stack([one.square().sum() for one in scores]).sum(), image)
    return gradient.flatten(1).abs().amax(1)


class _Rate(NamedTuple):
    """A number that a module keeps, by which it drops something."""

    module: nn.Module
    name: str
    value: float


def _rates(model: nn.Module) -> list[_Rate]:
    held = ((module, name, one) for module in model.modules() for name, one in vars(module).items())
    return [
        _Rate(module, name, one)
        for module, name, one in held
        if isinstance(one, float) and (name == "p" or "drop" in name or name.startswith(_KEPT))
    ]


@contextmanager
def _dropping(rates: Sequence[_Rate], share: float) -> Iterator[None]:
    """These modules drop that share, and functions nothing."""
    for module, name, _ in rates:
        setattr(module, name, 1.0 - share if name.startswith(_KEPT) else share)
    try:
        with NothingDropped():
            yield
    finally:
        for module, name, value in rates:
            setattr(module, name, value)
