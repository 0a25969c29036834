"""Ten simple checks of a ViT as a course writes them: each raises where ``vit.py`` is wrong."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

_SIZES = {"img_size": 32, "patch_size": 8, "embed_dim": 64, "depth": 2, "num_heads": 4, "num_classes": 10}
_IMAGES = torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))


def _model() -> Any:
    torch.manual_seed(0)
    return import_module("vit").VisionTransformer(**_SIZES).eval()


def _given_to(module: nn.Module, model: nn.Module) -> Tensor:
    """What ``module`` is given in a pass of ``model``."""
    given: list[Tensor] = []
    with module.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0])), torch.no_grad():
        model(_IMAGES)
    return given[0]


def can_be_imported() -> None:
    import_module("vit")


def has_the_class() -> None:
    assert issubclass(import_module("vit").VisionTransformer, nn.Module)


def output_shape() -> None:
    assert _model()(_IMAGES).shape == (3, 10)


def parameter_count() -> None:
    assert sum(one.numel() for one in _model().parameters()) == 114_250


def patch_embedding_shape() -> None:
    assert _model().patch_embed(_IMAGES).shape == (3, 16, 64)


def class_token() -> None:
    model = _model()
    assert model.cls_token.shape == (1, 1, 64)
    assert _given_to(model.blocks[0], model).shape == (3, 17, 64)


def softmax_rows() -> None:
    model = _model()
    rows = _given_to(model.blocks[0].attn.attn_drop, model).sum(-1)
    assert torch.allclose(rows, torch.ones_like(rows), rtol=0, atol=1e-5)


def deterministic() -> None:
    model = _model()
    assert torch.equal(model(_IMAGES), model(_IMAGES))


def batch_independence() -> None:
    model = _model()
    assert torch.allclose(model(_IMAGES)[1:2], model(_IMAGES[1:2]), rtol=1e-4, atol=1e-5)


def gradients() -> None:
    model = _model()
    model(_IMAGES).square().sum().backward()
    assert all(one.grad is not None and one.grad.any() for one in model.parameters())


CHECKS = (
    *(can_be_imported, has_the_class, output_shape, parameter_count, patch_embedding_shape),
    *(class_token, softmax_rows, deterministic, batch_independence, gradients),
)
