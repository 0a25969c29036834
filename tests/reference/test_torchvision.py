"""The pre-norm reference against torchvision's ViT with copied weights, at every stage that hooks reach."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torchvision.models.vision_transformer import VisionTransformer, vit_b_16

from vitcheck.reference.sizes import Sizes, preset
from vitcheck.reference.vit import PRE_NORM, Block, ReferenceViT

# Convolution, fused attention and fused norms sum in another order: measured 4e-14 after twelve blocks, where
# values reach 16. The smallest difference that matters, eps 1e-5 for 1e-6, shows at 2e-6 in the logits.
assert_close = partial(torch.testing.assert_close, rtol=1e-11, atol=1e-11)

SMALL = Sizes(batch=2, height=12, width=12, patch=4, embed_dim=20, heads=5, mlp_dim=28, depth=3, classes=7)


Recorded = tuple[dict[str, Tensor], dict[str, Tensor]]  # inputs and outputs by the submodule's name


@pytest.fixture
def small(randomise: Callable[[nn.Module], None]) -> tuple[Any, Tensor]:
    """Return torchvision's model at a small size, and images for it."""
    model = VisionTransformer(12, 4, 3, 5, 20, 28, num_classes=SMALL.classes)
    randomise(model)
    return model, torch.randn(2, 3, 12, 12, dtype=torch.float64)


def copied(theirs: Any, sizes: Sizes) -> ReferenceViT:
    """Return the reference with the weights of torchvision's model."""
    ours = ReferenceViT(sizes, PRE_NORM).double()
    state = {
        "patch_embed.weight": theirs.conv_proj.weight.flatten(1),
        "patch_embed.bias": theirs.conv_proj.bias,
        "cls_token": theirs.class_token.flatten(),
        "pos_embed": theirs.encoder.pos_embedding.squeeze(0),
    }
    modules = {"norm": theirs.encoder.ln, "head": theirs.heads.head}
    for number, layer in enumerate(theirs.encoder.layers):
        names = {"norm1": "ln_1", "attn.proj": "self_attention.out_proj", "norm2": "ln_2"}
        names |= {"mlp.fc1": "mlp.0", "mlp.fc2": "mlp.3"}
        modules |= {f"blocks.{number}.{our}": layer.get_submodule(their) for our, their in names.items()}
        state[f"blocks.{number}.attn.qkv.weight"] = layer.self_attention.in_proj_weight
        state[f"blocks.{number}.attn.qkv.bias"] = layer.self_attention.in_proj_bias
    for name, module in modules.items():
        state |= {f"{name}.weight": module.weight, f"{name}.bias": module.bias}
    ours.load_state_dict(state)
    return ours


def record(model: Any, image: Tensor) -> Recorded:
    """Return the first input and the output of every submodule by its name."""
    inputs: dict[str, Tensor] = {}
    outputs: dict[str, Tensor] = {}

    def keep(name: str, args: tuple[Tensor, ...], output: Tensor | tuple[Tensor, ...]) -> None:
        inputs[name] = args[0]
        outputs[name] = output[0] if isinstance(output, tuple) else output

    handles = [
        module.register_forward_hook(lambda _, args, output, name=name: keep(name, args, output))
        for name, module in model.named_modules()
    ]
    model(image)
    for handle in handles:
        handle.remove()
    return inputs, outputs


def block_stages(layer: Any, name: str, recorded: Recorded) -> dict[str, Tensor]:
    """Return the stages of one of torchvision's layers, q, k, v from its packed weights."""
    inputs, outputs = recorded
    normed, attention = outputs[f"{name}.ln_1"], layer.self_attention
    packed = F.linear(normed, attention.in_proj_weight, attention.in_proj_bias)
    batch, tokens, width = normed.shape
    query, key, value = packed.reshape(batch, tokens, 3, attention.num_heads, -1).permute(2, 0, 3, 1, 4)
    _, probabilities = attention(normed, normed, normed, need_weights=True, average_attn_weights=False)
    return {
        "block_input": inputs[name],
        "query": query,
        "key": key,
        "value": value,
        "attention_scores": torch.einsum("bhqd,bhkd->bhqk", query, key) / sqrt(width / attention.num_heads),
        "attention_probabilities": probabilities,
        "attention_context": F.scaled_dot_product_attention(query, key, value),
        "attention_output": outputs[f"{name}.self_attention"],
        "post_attention_norm": outputs[f"{name}.ln_2"],
        "mlp_hidden": outputs[f"{name}.mlp.1"],
        "mlp_output": outputs[f"{name}.mlp"],
        "post_mlp_norm": outputs[name],
        "block_output": outputs[name],
    }


def model_stages(model: Any, image: Tensor) -> dict[str, Tensor]:
    """Return the stages of torchvision's model that lie outside of its layers, and those of the first."""
    inputs, outputs = recorded = record(model, image)
    layers = [f"encoder.layers.{name}" for name, _ in model.encoder.layers.named_children()]
    return block_stages(model.encoder.layers[0], layers[0], recorded) | {
        "image": image,
        "patch_embeddings": outputs["conv_proj"].flatten(2).mT,
        "class_token": inputs["encoder"][:, :1],
        "tokens": inputs["encoder"],
        "positioned_tokens": inputs[layers[0]],
        "second_block_output": outputs[layers[1]],
        "last_block_output": outputs[layers[-1]],
        "final_sequence": outputs["encoder.ln"],
        "class_representation": inputs["heads"],
        "logits": outputs["heads"],
    }


def assert_same(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    for key, expected in theirs.items():
        assert_close(ours[key], expected, msg=partial("{}: {}".format, key))


def test_every_stage_is_torchvisions(small: tuple[Any, Tensor]) -> None:
    theirs, image = small
    assert_same(copied(theirs, SMALL)(image), model_stages(theirs, image))


def test_every_block_is_torchvisions(small: tuple[Any, Tensor]) -> None:
    theirs, image = small
    ours, recorded = copied(theirs, SMALL), record(theirs, image)
    for block, (name, layer) in zip(ours.blocks, theirs.encoder.layers.named_children(), strict=True):
        expected = block_stages(layer, f"encoder.layers.{name}", recorded)
        assert isinstance(block, Block)
        assert_same(block(expected["block_input"]), expected)


def test_the_full_size_is_torchvisions(randomise: Callable[[nn.Module], None]) -> None:
    theirs, image = vit_b_16(weights=None), torch.randn(1, 3, 224, 224, dtype=torch.float64)
    randomise(theirs)
    with torch.no_grad():
        assert_same(copied(theirs, preset("B/16"))(image), model_stages(theirs, image))


def test_gradients_are_torchvisions(small: tuple[Any, Tensor]) -> None:
    theirs, image = small
    image.requires_grad_()
    ours = copied(theirs, SMALL)(image)["logits"].square().sum()
    (expected,) = torch.autograd.grad(theirs(image).square().sum(), image)
    (seen,) = torch.autograd.grad(ours, image)
    assert_close(seen, expected)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("B/16", 86_567_656),  # as torchvision's documentation gives them
        ("B/32", 88_224_232),
        ("L/16", 304_326_632),
        ("L/32", 306_535_400),
        ("H/14", 632_045_800),
    ],
)
def test_parameters_are_as_many_as_torchvisions(name: str, count: int) -> None:
    with torch.device("meta"):
        model = ReferenceViT(preset(name), PRE_NORM)
    assert sum(parameter.numel() for parameter in model.parameters()) == count
