import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    """Query by query: each token's output is computed alone, then all are put together."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.size = heads, dim // heads
        self.q, self.k, self.v, self.o = (nn.Linear(dim, dim) for _ in range(4))

    def forward(self, x):
        B, T, D = x.shape
        keys = self.k(x).view(B, T, self.heads, self.size)
        values = self.v(x).view(B, T, self.heads, self.size)
        out = []
        for t in range(T):
            query = self.q(x[:, t]).view(B, 1, self.heads, self.size)
            score = (query * keys).sum(-1) / self.size ** 0.5      # B T h
            weight = score.softmax(dim=1).unsqueeze(-1)             # B T h 1
            out.append((weight * values).sum(1).reshape(B, D))
        return self.o(torch.stack(out, dim=1))


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attention = Attention(dim, heads)
        self.fc1, self.fc2 = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        tokens = [self.fc2(F.gelu(self.fc1(token))) for token in self.norm2(x).split(1, dim=1)]
        return x + torch.cat(tokens, dim=1)


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, dim=768, depth=12, heads=12, hidden=3072, num_classes=1000):
        super().__init__()
        self.patch_size = patch_size
        self.project = nn.Linear(channels * patch_size ** 2, dim)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, dim))
        self.blocks = nn.ModuleList(Block(dim, heads, hidden) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, img):
        p = self.patch_size
        tokens = [self.cls.expand(img.size(0), -1, -1)]
        for i in range(0, img.size(2), p):
            for j in range(0, img.size(3), p):
                tokens.append(self.project(img[:, :, i:i + p, j:j + p].reshape(img.size(0), 1, -1)))
        x = torch.cat(tokens, dim=1) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])
