from abc import ABC, abstractmethod

import torch
from torch import nn


class Sublayer(nn.Module, ABC):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)

    @abstractmethod
    def transform(self, x): ...

    def forward(self, x):
        return x + self.transform(self.norm(x))


class SelfAttention(Sublayer):
    def __init__(self, dim, heads):
        super().__init__(dim)
        self.heads = heads
        self.qkv_proj = nn.Linear(dim, 3 * dim)
        self.out_proj = nn.Linear(dim, dim)

    def transform(self, x):
        b, n, d = x.shape
        # qkv for each head: (h, 3, d)
        mixed = self.qkv_proj(x).reshape(b, n, self.heads, 3, d // self.heads)
        query, key, value = mixed.permute(3, 0, 2, 1, 4)
        energy = torch.matmul(query, key.transpose(2, 3))
        mask = torch.zeros(n, n, device=x.device, dtype=x.dtype)
        attention = torch.softmax(energy / (d // self.heads) ** 0.5 + mask, dim=3)
        return self.out_proj(torch.matmul(attention, value).transpose(1, 2).contiguous().view(b, n, d))


class Mlp(Sublayer):
    """1x1 convolutions."""

    def __init__(self, dim, hidden):
        super().__init__(dim)
        self.c1 = nn.Conv1d(dim, hidden, 1)
        self.c2 = nn.Conv1d(hidden, dim, kernel_size=1)

    def transform(self, x):
        return self.c2(nn.functional.gelu(self.c1(x.transpose(1, 2)))).transpose(1, 2)


class BaseViT(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, dim, depth, heads, mlp_dim, num_classes):
        super().__init__()
        self.patch_size = patch_size
        self.project = self.make_projection(in_channels, patch_size, dim)
        self.class_token = nn.Parameter(torch.randn(1, dim, 1))
        self.pos = nn.Parameter(torch.randn(1, dim, (image_size // patch_size) ** 2 + 1))
        self.layers = nn.ModuleList()
        for _ in range(depth):
            self.layers.extend([SelfAttention(dim, heads), Mlp(dim, mlp_dim)])
        self.final = nn.LayerNorm(dim)
        self.head = nn.Conv1d(dim, num_classes, 1)

    def make_projection(self, in_channels, patch_size, dim):
        return nn.Conv2d(in_channels, dim, patch_size, patch_size)

    def forward(self, x):
        x = self.project(x).flatten(2)
        x = torch.cat([self.class_token.expand(len(x), -1, -1), x], dim=2) + self.pos
        x = x.transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.final(x[:, :1]).transpose(1, 2)).squeeze(-1)


class VisionTransformer(BaseViT):
    def __init__(self, image_size=224, patch_size=16, in_channels=3, dim=768, depth=12, heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__(image_size, patch_size, in_channels, dim, depth, heads, mlp_dim, num_classes)
