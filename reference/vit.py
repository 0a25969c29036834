"""The reference Vision Transformer: the equations composed, so that every stage can be asked for by its key.

Four architectures are graded, and each is a `Variant` of this one model:

- ``REPORT``: the debugging assignment's own block, with a norm after each of the two residual sums;
- ``PRE_NORM``: Dosovitskiy et al. 2020, arXiv:2010.11929, and torchvision;
- ``POST_NORM``: the blocks of Vaswani et al. 2017, arXiv:1706.03762, section 3.1;
- ``CLIP``: the image encoder of Radford et al. 2021, arXiv:2103.00020.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from . import equations as eq
from .sizes import Sizes


@dataclass(frozen=True, kw_only=True)
class Variant:
    """In what the architectures differ."""

    name: str  # as `stages_of` knows it
    norm_before_blocks: bool = False  # norm_pre
    norm_before_attention: bool = True  # norm1
    norm_after_mlp: bool = False  # norm3; the residual around the MLP then starts at the normed tokens
    final_norm: Literal["sequence", "class token"] | None  # what norm reads
    eps: float  # of every LayerNorm
    activation: Callable[[Tensor], Tensor] = eq.gelu
    patch_bias: bool = True
    classifier: bool = True  # a head with a bias, and probabilities; otherwise a plain projection


REPORT = Variant(name="report", norm_after_mlp=True, final_norm=None, eps=1e-5)
PRE_NORM = Variant(name="pre-norm", final_norm="sequence", eps=1e-6)
POST_NORM = Variant(
    name="post-norm", norm_before_attention=False, norm_after_mlp=True, final_norm=None, eps=1e-5
)
CLIP = Variant(
    name="clip",
    norm_before_blocks=True,
    final_norm="class token",
    eps=1e-5,
    activation=eq.quick_gelu,
    patch_bias=False,
    classifier=False,
)


class Stages(dict[str, Tensor]):
    """The tensors of a forward pass by stage key. A key that the model does not have raises KeyError."""

    def __missing__(self, key: str) -> Tensor:
        raise KeyError(f"this model has no stage {key!r}; it has {', '.join(self)}")


class Linear(nn.Linear):
    def forward(self, x: Float[Tensor, "*axes in"]) -> Float[Tensor, "*axes out"]:
        return eq.linear(x, self.weight, self.bias)


class LayerNorm(nn.LayerNorm):
    def forward(self, x: Float[Tensor, "*axes D"]) -> Float[Tensor, "*axes D"]:
        return eq.layer_norm(x, self.weight, self.bias, self.eps)


class Attention(nn.Module):
    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.qkv = Linear(sizes.embed_dim, 3 * sizes.embed_dim)
        self.proj = Linear(sizes.embed_dim, sizes.embed_dim)

    def forward(self, x: Float[Tensor, "B T D"]) -> Stages:
        query, key, value = (eq.split_heads(part, self.heads) for part in self.qkv(x).chunk(3, dim=-1))
        stages = Stages(query=query, key=key, value=value)
        scores = stages["attention_scores"] = eq.attention_scores(query, key)
        probabilities = stages["attention_probabilities"] = eq.attention_probabilities(scores)
        context = stages["attention_context"] = eq.attention_context(probabilities, value)
        stages["attention_output"] = self.proj(eq.merge_heads(context))
        return stages


class Mlp(nn.Module):
    def __init__(self, sizes: Sizes, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.fc1 = Linear(sizes.embed_dim, sizes.mlp_dim)
        self.activation = activation
        self.fc2 = Linear(sizes.mlp_dim, sizes.embed_dim)

    def forward(self, x: Float[Tensor, "B T D"]) -> Stages:
        hidden = self.activation(self.fc1(x))
        return Stages(mlp_hidden=hidden, mlp_output=self.fc2(hidden))


class Block(nn.Module):
    def __init__(self, sizes: Sizes, variant: Variant) -> None:
        super().__init__()
        self.norm1 = (
            LayerNorm(sizes.embed_dim, variant.eps) if variant.norm_before_attention else nn.Identity()
        )
        self.attn = Attention(sizes)
        self.norm2 = LayerNorm(sizes.embed_dim, variant.eps)
        self.mlp = Mlp(sizes, variant.activation)
        self.norm3 = LayerNorm(sizes.embed_dim, variant.eps) if variant.norm_after_mlp else None

    def forward(self, x: Float[Tensor, "B T D"]) -> Stages:
        read = self.norm1(x)
        stages = Stages(block_input=x, **self.attn(read))
        attended = eq.attention_sum(x, read, stages["attention_output"])
        normed = stages["post_attention_norm"] = self.norm2(attended)
        stages.update(self.mlp(normed))
        if self.norm3 is None:
            output = eq.mlp_sum(x, attended, normed, stages["mlp_output"])
        else:
            output = self.norm3(eq.report_mlp_sum(x, attended, normed, stages["mlp_output"]))
        stages["post_mlp_norm"] = stages["block_output"] = output
        return stages


class ReferenceViT(nn.Module):
    """A Vision Transformer of these sizes; the batch is free. Class token ``(D,)``, positions ``(T, D)``."""

    def __init__(self, sizes: Sizes, variant: Variant) -> None:
        super().__init__()
        self.sizes, self.variant = sizes, variant
        D = sizes.embed_dim
        self.patch_embed = Linear(sizes.axes["F"], D, bias=variant.patch_bias)
        self.cls_token = nn.Parameter(nn.init.trunc_normal_(torch.empty(D), std=0.02))
        self.pos_embed = nn.Parameter(nn.init.trunc_normal_(torch.empty(sizes.tokens, D), std=0.02))
        self.norm_pre = LayerNorm(D, variant.eps) if variant.norm_before_blocks else nn.Identity()
        self.blocks = nn.ModuleList(Block(sizes, variant) for _ in range(sizes.depth))
        self.norm = LayerNorm(D, variant.eps) if variant.final_norm else nn.Identity()
        self.head = Linear(D, sizes.classes, bias=variant.classifier)

    def forward(self, image: Float[Tensor, "B C H W"]) -> Stages:
        """Return every stage by key; S08 to S20 are those of block 1.

        Raises ValueError where the image is not of the model's size.
        """
        stages = self.embed(image)
        x = self.norm_pre(stages["positioned_tokens"])
        for number, block in enumerate(self.blocks, start=1):
            inside = block(x)
            x = inside["block_output"]
            if number == 1:
                stages.update(inside)
            if number == 2:
                stages["second_block_output"] = x
        stages["last_block_output"] = x
        stages.update(self.classify(x))
        return stages

    def embed(self, image: Float[Tensor, "B C H W"]) -> Stages:
        """Return the stages before the blocks."""
        expected = (self.sizes.channels, self.sizes.height, self.sizes.width)
        if tuple(image.shape[1:]) != expected:
            raise ValueError(f"images are {tuple(image.shape[1:])}, and the model was built for {expected}")
        stages = Stages(image=image)
        patches = stages["patches"] = eq.cut_patches(image, self.sizes.patch)
        flattened = stages["flattened_patches"] = eq.flatten_patches(patches)
        embeddings = stages["patch_embeddings"] = self.patch_embed(flattened)
        class_token = stages["class_token"] = eq.expand_class_token(self.cls_token, len(image))
        tokens = stages["tokens"] = eq.prepend_class_token(class_token, embeddings)
        stages["positioned_tokens"] = eq.add_positions(tokens, self.pos_embed)
        return stages

    def classify(self, x: Float[Tensor, "B T D"]) -> Stages:
        """Return the stages after the blocks."""
        of_token = self.variant.final_norm == "class token"
        sequence = x if of_token else self.norm(x)
        token = eq.class_representation(sequence)
        representation = self.norm(token) if of_token else token
        logits = self.head(representation)
        stages = Stages(final_sequence=sequence, class_representation=representation, logits=logits)
        if self.variant.classifier:
            stages["class_probabilities"] = eq.class_probabilities(logits)
        return stages
