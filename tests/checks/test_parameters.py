"""Maps between tensors of a pass are found in every style in which weights are kept and used."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from tracing_helpers import trace_model

from vitcheck.checks.locating.forms import NORMS
from vitcheck.checks.locating.search.norms import BatchNorm
from vitcheck.checks.locating.walk import Walk, begin
from vitcheck.checks.vit.vit_family import VIT
from vitcheck.reference.sizes import Sizes

D, OUT = 6, 8
X = torch.randn(3, 5, D, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


class Pass(nn.Module):
    """Applies a function of the input, a weight (OUT, D) and a bias (OUT)."""

    def __init__(self, function: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        draw = torch.Generator().manual_seed(2)
        self.weight = nn.Parameter(torch.randn(OUT, D, generator=draw, dtype=torch.float64))
        self.bias = nn.Parameter(torch.randn(OUT, generator=draw, dtype=torch.float64))
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x, self.weight, self.bias)


def walk_of(model: nn.Module) -> Walk:
    return begin(trace_model(model.eval(), X), Sizes(), VIT)


MAPS: dict[str, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    "linear": F.linear,
    "a matrix on the right, the bias added later": lambda x, w, b: x @ w.mT.contiguous() + b,
    "einsum": lambda x, w, b: torch.einsum("btd,od->bto", x, w) + b,
    "a convolution of length one": lambda x, w, b: F.conv1d(x.mT, w[:, :, None], b).mT,
    "a matrix a head": lambda x, w, b: (
        x[:, None] @ w.reshape(2, OUT // 2, D).mT.contiguous() + b.reshape(2, 1, OUT // 2)
    ),
    "token by token": lambda x, w, b: torch.stack([F.linear(one, w, b) for one in x]),
}


def test_a_map_to_nothing_is_none() -> None:
    def both(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        return F.linear(x, w[:0], b[:0]).sum() + F.linear(x, w, b)

    map_, result, _ = next(walk_of(Pass(both)).parameters.linears(X, -1))
    assert result.shape == (3, 5, OUT)
    assert map_.bias is not None


@pytest.mark.parametrize("name", MAPS)
def test_a_linear_map_is_found_with_its_bias(name: str) -> None:
    walk = walk_of(Pass(MAPS[name]))
    map_, result, _ = next(walk.parameters.linears(X, -1))
    model = Pass(F.linear)
    torch.testing.assert_close(result, F.linear(X, model.weight, model.bias), rtol=1e-12, atol=1e-12)
    assert map_.bias is not None


def test_a_map_without_bias_is_found_without_one() -> None:
    map_, _, _ = next(walk_of(Pass(lambda x, w, b: x @ w.mT)).parameters.linears(X, -1))
    assert map_.bias is None


def test_a_map_of_another_tensor_is_not_found() -> None:
    assert not list(walk_of(Pass(F.linear)).parameters.linears(X.flip(1), -1))


@pytest.mark.parametrize("eps", [1e-5, 1e-6, 1e-12])
def test_a_norm_is_found_with_its_eps(eps: float) -> None:
    norm, _, _ = next(walk_of(_random(nn.LayerNorm(D, eps=eps))).parameters.norms(X, -1))
    assert norm.eps == eps
    assert not norm.ids


def test_a_norm_without_weights_is_named() -> None:
    norm, _, _ = next(walk_of(nn.LayerNorm(D, elementwise_affine=False)).parameters.norms(X, -1))
    assert norm.ids == ("layernorm-no-affine",)


class Batch(nn.Module):
    """Batch norm over features."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = _random(nn.BatchNorm1d(D))

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.norm(x.mT)
        return y.mT


def test_batch_norm_in_eval_mode_is_named() -> None:
    walk = walk_of(Batch())
    assert not list(walk.parameters.norms(X, -1))
    norm, _, _ = next(walk.parameters.norms(X, -1, NORMS[1:]))
    assert isinstance(norm, BatchNorm)
    assert norm.ids == ("batchnorm-instead-of-layernorm",)


def _random(module: nn.Module) -> nn.Module:
    draw = torch.Generator().manual_seed(3)
    for tensor in [*module.double().parameters(), *module.buffers()]:
        if tensor.is_floating_point():
            tensor.data = torch.rand(tensor.shape, generator=draw, dtype=torch.float64) + 0.5
    return module
