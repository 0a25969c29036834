from typing import Tuple

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim: int, num_heads: int):
        super().__init__()
        self.num_heads = num_heads
        self.q = nn.Linear(dim, dim)
        self.kv = nn.Linear(dim, 2 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, N, C = x.shape
        q = self.q(x).reshape(B, N, self.num_heads, C // self.num_heads).permute(0, 2, 1, 3)
        kv = self.kv(x).reshape(B, N, 2, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        attn = q @ kv[0].transpose(-2, -1) / (C // self.num_heads) ** 0.5
        x = (attn.softmax(dim=-1) @ kv[1]).transpose(1, 2).reshape(B, N, C)
        return self.proj(x)


class Block(nn.Module):
    def __init__(self, dim: int, num_heads: int, mlp_dim: int):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, num_heads)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.attn(self.norm1(x)) + x
        return self.mlp(self.norm2(x)) + x


class VisionTransformer(nn.Module):
    def __init__(
        self,
        img_size: Tuple[int, int] = (224, 224),
        patch_size: Tuple[int, int] = (16, 16),
        in_channels: int = 3,
        embed_dim: int = 768,
        num_layers: int = 12,
        num_heads: int = 12,
        mlp_dim: int = 3072,
        num_classes: int = 1000,
    ):
        super().__init__()
        self.grid_size = (img_size[0] // patch_size[0], img_size[1] // patch_size[1])
        self.conv_proj = nn.Conv2d(in_channels, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.class_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embedding = nn.Parameter(torch.empty(1, self.grid_size[0] * self.grid_size[1] + 1, embed_dim))
        nn.init.normal_(self.pos_embedding, std=0.02)
        self.layers = nn.ModuleList([Block(embed_dim, num_heads, mlp_dim) for _ in range(num_layers)])
        self.ln = nn.LayerNorm(embed_dim)
        self.heads = nn.Linear(embed_dim, num_classes)

    def _process_input(self, x: torch.Tensor) -> torch.Tensor:
        n_h, n_w = self.grid_size
        x = self.conv_proj(x)
        return x.reshape(x.shape[0], x.shape[1], n_h * n_w).permute(0, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self._process_input(x)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        x = x + self.pos_embedding
        for layer in self.layers:
            x = layer(x)
        x = self.ln(x)
        return self.heads(x[:, 0])
