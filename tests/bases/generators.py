from functools import reduce
from itertools import accumulate

import torch
from torch import nn


def patches_of(image, p):
    """Yields one flattened patch at a time, row by row."""
    for band in image.split(p, dim=-2):
        for window in band.split(p, dim=-1):
            yield window.flatten(start_dim=1)


class Head(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.q = nn.Linear(dim, size)
        self.k = nn.Linear(dim, size)
        self.v = nn.Linear(dim, size)
        self.scale = size ** -0.5

    def forward(self, x):
        weights = (self.q(x) @ self.k(x).mT * self.scale).softmax(dim=-1)
        return weights @ self.v(x)


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = nn.ModuleList(Head(dim, dim // heads) for _ in range(heads))
        self.join = nn.Linear(dim, dim)
        self.norms = nn.ModuleList([nn.LayerNorm(dim), nn.LayerNorm(dim)])
        self.mlp = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def branches(self):
        yield lambda x: self.join(torch.cat([head(x) for head in self.heads], dim=-1))
        yield self.mlp

    def forward(self, x):
        for norm, branch in zip(self.norms, self.branches()):
            x = x + branch(norm(x))
        return x


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, dim=768, depth=12, heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.patch_size = patch_size
        self.embed = nn.Linear(channels * patch_size * patch_size, dim)
        self.cls = nn.Parameter(torch.randn(1, dim))
        self.pos = nn.Parameter(torch.randn((image_size // patch_size) ** 2 + 1, 1, dim))
        self.blocks = nn.ModuleList(Block(dim, heads, mlp_dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def tokens(self, image):
        yield self.cls.expand(len(image), -1)
        yield from (self.embed(patch) for patch in patches_of(image, self.patch_size))

    def forward(self, image):
        x = torch.stack([token + row for token, row in zip(self.tokens(image), self.pos)], dim=1)
        *_, x = accumulate(self.blocks, lambda x, block: block(x), initial=x)
        return self.head(self.norm(x)[:, 0])
