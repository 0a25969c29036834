"""Random values for whatever a model holds, so that no default initialisation hides a mistake."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from vitcheck.submissions.questions.randomise import named_tensors, randomise


class Model(nn.Module):
    """Holds tensors in all the ways that students do."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(400)
        self.linear = nn.Linear(400, 300)
        self.token = nn.Parameter(torch.zeros(1, 1, 400))
        self.register_buffer("angles", torch.sin(torch.arange(400.0)).view(20, 20))
        self.register_buffer("steps", torch.tensor(3))
        self.positions = torch.zeros(20, 20)  # forgotten to be registered
        self.layers = [nn.Linear(4, 5), {"inner": nn.Linear(5, 6)}]  # in a Python list
        self.weights = [torch.nn.Parameter(torch.ones(7))]


def values(seed: int = 3, fixed: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
    torch.manual_seed(0)
    model = Model()
    randomise(model, seed, fixed or {})
    return {name: tensor.detach().clone() for name, tensor in named_tensors(model)}


def test_the_same_seed_gives_the_same_values_and_another_others() -> None:
    first, again, other = values(), values(), values(seed=4)
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["linear.weight"], other["linear.weight"])


def test_everything_is_named_as_it_is_held() -> None:
    assert set(values()) == {
        "norm.weight", "norm.bias", "linear.weight", "linear.bias", "token", "angles", "steps", "positions",
        "layers.0.weight", "layers.0.bias", "layers.1.inner.weight", "layers.1.inner.bias", "weights.0",
    }  # fmt: skip


def test_spreads_keep_numbers_at_unit_size() -> None:
    found = values()
    assert float(found["norm.weight"].mean()) == pytest.approx(1, abs=0.1)
    assert float(found["norm.bias"].mean()) == pytest.approx(0, abs=0.1)
    assert 0.1 < float(found["norm.weight"].std()) < 0.5
    assert float(found["linear.weight"].std()) == pytest.approx(1 / math.sqrt(400), rel=0.1)
    assert float(found["token"].std()) == pytest.approx(1, rel=0.2)


def test_what_a_formula_gave_stays_and_what_is_constant_does_not() -> None:
    found = values()
    assert torch.equal(found["angles"], torch.sin(torch.arange(400.0)).view(20, 20))
    assert int(found["steps"]) == 3
    assert len(set(found["positions"].flatten().tolist())) == 400


def test_parameters_in_python_lists_are_drawn_too() -> None:
    found = values()
    for name in ("layers.0.bias", "layers.1.inner.weight", "weights.0"):
        assert len(set(found[name].flatten().tolist())) == found[name].numel()
    assert float(found["weights.0"].mean()) == pytest.approx(1, abs=0.4)


def test_what_is_fixed_is_set_in_the_parameters_own_shape_and_the_rest_stays_as_drawn() -> None:
    drawn, fixed = values(), values(fixed={"token": torch.arange(400.0)})
    assert torch.equal(fixed["token"], torch.arange(400.0).view(1, 1, 400))
    assert all(torch.equal(drawn[name], fixed[name]) for name in drawn if name != "token")


class Tied(nn.Module):
    """The head shares the weight of a module that lies deeper, and a norm is used twice."""

    def __init__(self) -> None:
        super().__init__()
        deep, norm = nn.Linear(4, 4), nn.LayerNorm(4)
        self.body = nn.ModuleList([nn.Sequential(deep, norm)])
        self.head = nn.Linear(4, 4)
        self.norm = norm
        self.head.weight = deep.weight


def test_what_is_shared_goes_by_the_name_that_torch_gives_it() -> None:
    model = Tied()
    registered = {name for name, _ in model.named_parameters()}
    fixed = {name: torch.full((4, 4) if "0.0.weight" in name else (4,), 7.0) for name in registered}
    randomise(model, 0, fixed)
    assert all(bool((one == 7).all()) for one in model.parameters())


def test_a_template_on_the_meta_device_has_no_numbers_to_draw() -> None:
    model = Model()
    object.__setattr__(model, "template", nn.Linear(3, 3).to("meta"))
    randomise(model, 3, {})
    assert not [name for name, _ in named_tensors(model) if name.startswith("template")]
