"""Child side: small ViTs for functions that read a trained one, where the submission has no model of its own.

Their parts have the names that code for the two common libraries relies on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ...reference.model_sizes import ModelSizes


class _Attention(nn.Module):
    def __init__(self, sizes: ModelSizes) -> None:
        super().__init__()
        self.num_heads, self.head_dim = sizes.heads, sizes.head_dim
        self.scale = sizes.head_dim**-0.5
        self.fused_attn = False
        self.qkv = nn.Linear(sizes.embed_dim, 3 * sizes.embed_dim)
        self.attn_drop = nn.Dropout(0.0)
        self.proj = nn.Linear(sizes.embed_dim, sizes.embed_dim)
        self.proj_drop = nn.Dropout(0.0)

    def forward(self, x: Tensor) -> Tensor:
        B, T, D = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = self.attn_drop(((q * self.scale) @ k.mT).softmax(dim=-1))
        out: Tensor = self.proj_drop(self.proj((attn @ v).transpose(1, 2).reshape(B, T, D)))
        return out


class _Mlp(nn.Module):
    def __init__(self, sizes: ModelSizes) -> None:
        super().__init__()
        self.fc1 = nn.Linear(sizes.embed_dim, sizes.mlp_dim)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(sizes.mlp_dim, sizes.embed_dim)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.fc2(self.act(self.fc1(x)))
        return out


class _Block(nn.Module):
    def __init__(self, sizes: ModelSizes) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(sizes.embed_dim, eps=1e-6)
        self.attn = _Attention(sizes)
        self.norm2 = nn.LayerNorm(sizes.embed_dim, eps=1e-6)
        self.mlp = _Mlp(sizes)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.norm1(x))
        out: Tensor = x + self.mlp(self.norm2(x))
        return out


class _PatchEmbed(nn.Module):
    def __init__(self, sizes: ModelSizes) -> None:
        super().__init__()
        self.patch_size, self.grid_size = (sizes.patch, sizes.patch), sizes.grid
        self.num_patches = sizes.patches
        self.proj = nn.Conv2d(sizes.channels, sizes.embed_dim, sizes.patch, sizes.patch)

    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = self.proj(x).flatten(2).transpose(1, 2)
        return out


class _Timm(nn.Module):
    """A ViT with the names of timm's."""

    def __init__(self, sizes: ModelSizes) -> None:
        super().__init__()
        self.patch_embed = _PatchEmbed(sizes)
        self.cls_token = nn.Parameter(torch.randn(1, 1, sizes.embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, sizes.tokens, sizes.embed_dim))
        self.blocks = nn.Sequential(*(_Block(sizes) for _ in range(sizes.depth)))
        self.norm = nn.LayerNorm(sizes.embed_dim, eps=1e-6)
        self.head = nn.Linear(sizes.embed_dim, sizes.classes)

    def forward(self, x: Tensor) -> Tensor:
        x = self.patch_embed(x)
        x = torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1) + self.pos_embed
        out: Tensor = self.head(self.norm(self.blocks(x))[:, 0])
        return out


def _torchvision(sizes: ModelSizes) -> nn.Module:
    from torchvision.models import VisionTransformer  # here, since it takes long to import

    model: nn.Module = VisionTransformer(
        image_size=sizes.height,
        patch_size=sizes.patch,
        num_layers=sizes.depth,
        num_heads=sizes.heads,
        hidden_dim=sizes.embed_dim,
        mlp_dim=sizes.mlp_dim,
        num_classes=sizes.classes,
    )
    return model


@dataclass(frozen=True)
class Sample:
    """Is built as a student's model is: images are square and have three channels."""

    make: Callable[[ModelSizes], nn.Module]

    def build(self, sizes: ModelSizes) -> nn.Module:
        return self.make(sizes)

    def sizes_for(self, sizes: ModelSizes) -> ModelSizes:
        return type(sizes)(**{**vars(sizes), "width": sizes.height, "channels": 3})


SAMPLES: Mapping[str, Sample] = {"timm": Sample(_Timm), "torchvision": Sample(_torchvision)}
