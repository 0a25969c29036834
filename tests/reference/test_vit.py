"""The two architectures that no library has, against independent implementations made of library layers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vitcheck.reference.sizes import Sizes
from vitcheck.reference.vit import CLIP, PRE_NORM, REPORT, ReferenceViT, Variant

# Library layers sum in another order: below 1e-13 after three blocks in float64, at values around 1.
assert_close = partial(torch.testing.assert_close, rtol=1e-11, atol=1e-11)


class Layer(nn.Module):
    """A block of library layers; the sequence comes first, as the course's CLIP notebook has it."""

    def __init__(self, sizes: Sizes, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.ln_1, self.ln_2, self.ln_3 = (nn.LayerNorm(sizes.embed_dim) for _ in range(3))
        self.attention = nn.MultiheadAttention(sizes.embed_dim, sizes.heads)
        self.up = nn.Linear(sizes.embed_dim, sizes.mlp_dim)
        self.down = nn.Linear(sizes.mlp_dim, sizes.embed_dim)
        self.activation = activation

    def attend(self, x: Tensor) -> Tensor:
        normed = self.ln_1(x)
        attended: Tensor = self.attention(normed, normed, normed, need_weights=False)[0]
        return attended

    def mlp(self, x: Tensor) -> Tensor:
        hidden: Tensor = self.down(self.activation(self.up(x)))
        return hidden


class ClipLayer(Layer):
    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attend(x)
        return x + self.mlp(self.ln_2(x))


class ReportLayer(Layer):
    def forward(self, x: Tensor) -> Tensor:
        x = self.ln_2(x + self.attend(x))
        normed: Tensor = self.ln_3(x + self.mlp(x))
        return normed


class Encoder(nn.Module):
    """Either architecture, with a convolution for the patches."""

    def __init__(self, sizes: Sizes, clip: bool) -> None:
        super().__init__()
        D = sizes.embed_dim
        self.clip = clip
        self.conv = nn.Conv2d(sizes.channels, D, sizes.patch, sizes.patch, bias=not clip)
        self.class_embedding = nn.Parameter(torch.empty(D))
        self.positions = nn.Parameter(torch.empty(sizes.tokens, D))
        self.ln_pre, self.ln_post = nn.LayerNorm(D), nn.LayerNorm(D)
        layer = ClipLayer if clip else ReportLayer
        activation = quick_gelu if clip else F.gelu
        self.layers = nn.ModuleList(layer(sizes, activation) for _ in range(sizes.depth))
        self.projection = nn.Parameter(torch.empty(D, sizes.classes))
        self.bias = None if clip else nn.Parameter(torch.empty(sizes.classes))

    def forward(self, image: Tensor) -> Tensor:
        x = self.conv(image).flatten(2).permute(2, 0, 1)
        x = torch.cat([self.class_embedding.expand(1, x.shape[1], -1), x]) + self.positions[:, None]
        x = self.ln_pre(x) if self.clip else x
        for layer in self.layers:
            x = layer(x)
        token = self.ln_post(x[0]) if self.clip else x[0]
        logits: Tensor = token @ self.projection
        return logits if self.bias is None else logits + self.bias


def quick_gelu(x: Tensor) -> Tensor:
    return x / (1 + torch.exp(-1.702 * x))


def copied(theirs: Any, sizes: Sizes) -> ReferenceViT:
    """Return the reference with the encoder's weights."""
    ours = ReferenceViT(sizes, CLIP if theirs.clip else REPORT).double()
    modules: dict[str, nn.Module] = {}
    state = {
        "patch_embed.weight": theirs.conv.weight.flatten(1),
        "cls_token": theirs.class_embedding,
        "pos_embed": theirs.positions,
        "head.weight": theirs.projection.T,
    }
    if theirs.clip:
        modules |= {"norm_pre": theirs.ln_pre, "norm": theirs.ln_post}
    else:
        state |= {"patch_embed.bias": theirs.conv.bias, "head.bias": theirs.bias}
    for number, layer in enumerate(theirs.layers):
        names = {"norm1": layer.ln_1, "attn.proj": layer.attention.out_proj, "norm2": layer.ln_2}
        names |= {"mlp.fc1": layer.up, "mlp.fc2": layer.down}
        names |= {} if theirs.clip else {"norm3": layer.ln_3}
        modules |= {f"blocks.{number}.{name}": module for name, module in names.items()}
        state[f"blocks.{number}.attn.qkv.weight"] = layer.attention.in_proj_weight
        state[f"blocks.{number}.attn.qkv.bias"] = layer.attention.in_proj_bias
    for name, module in modules.items():
        state |= {f"{name}.weight": module.weight, f"{name}.bias": module.bias}
    ours.load_state_dict(state)
    return ours


@pytest.mark.parametrize("clip", [True, False], ids=["clip", "report"])
def test_stages_are_those_of_an_independent_encoder(
    clip: bool, small: Sizes, randomise: Callable[[nn.Module], None]
) -> None:
    theirs: Any = Encoder(small, clip)
    randomise(theirs)
    image = torch.randn(2, 3, 8, 12, dtype=torch.float64)
    blocks: list[Tensor] = []
    for layer in theirs.layers:
        layer.register_forward_hook(lambda _, args, output: blocks.append(output.transpose(0, 1)))
    logits = theirs(image)
    stages = copied(theirs, small)(image)
    expected = dict(zip(("block_output", "second_block_output", "last_block_output"), blocks, strict=True))
    expected |= {"final_sequence": blocks[-1], "logits": logits}
    for key, tensor in expected.items():
        assert_close(stages[key], tensor, msg=partial("{}: {}".format, key))


def test_a_stage_that_the_variant_lacks_is_named(small: Sizes) -> None:
    stages = ReferenceViT(small, CLIP)(torch.randn(2, 3, 8, 12))
    with pytest.raises(KeyError, match="no stage 'class_probabilities'; it has image, patches"):
        stages["class_probabilities"]


def test_one_block_has_no_second(small: Sizes) -> None:
    stages = ReferenceViT(replace(small, depth=1), PRE_NORM)(torch.randn(2, 3, 8, 12))
    assert "second_block_output" not in stages
    assert stages["last_block_output"] is stages["block_output"]


def test_an_image_of_another_size_is_refused(small: Sizes) -> None:
    with pytest.raises(
        ValueError, match=r"images are \(3, 12, 8\), and the model was built for \(3, 8, 12\)"
    ):
        ReferenceViT(small, REPORT)(torch.randn(2, 3, 12, 8))


@pytest.mark.parametrize("variant", [REPORT, PRE_NORM, CLIP], ids=lambda variant: variant.name)
def test_every_parameter_is_used(
    variant: Variant, small: Sizes, randomise: Callable[[nn.Module], None]
) -> None:
    model = ReferenceViT(small, variant)
    randomise(model)
    model(torch.randn(2, 3, 8, 12, dtype=torch.float64))["logits"].square().sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
