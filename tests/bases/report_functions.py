from collections import namedtuple

import torch
from torch import nn
import torch.nn.functional as F

Result = namedtuple("Result", ["final_seq", "cls_rep", "logits", "probs"])


def to_windows(img, p):
    """(B, C, H, W) -> (B, N, C, p, p)"""
    rows = torch.stack(img.split(p, dim=2), dim=1)
    grid = torch.stack(rows.split(p, dim=4), dim=2)
    return grid.flatten(1, 2)


def heads_apart(x, n):
    return torch.stack(x.chunk(n, dim=-1), dim=1)


def heads_together(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


class Layer(nn.Module):
    def __init__(self, width, n_heads, hidden):
        super().__init__()
        self.n_heads = n_heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3))
        self.in_projection = nn.Linear(width, 3 * width)
        self.out_projection = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, hidden), nn.GELU(), nn.Linear(hidden, width))

    def attention(self, x):
        q, k, v = (heads_apart(part, self.n_heads) for part in self.in_projection(x).chunk(3, dim=-1))
        return self.out_projection(heads_together(F.scaled_dot_product_attention(q, k, v)))

    def forward(self, x):
        before, between, after = self.norms
        x = between(x + self.attention(before(x)))
        return after(x + self.mlp(x))


class ReportTransformer(nn.Module):
    def __init__(self, img_size=224, patch_size=16, channels=3, width=768, layers=12, n_heads=12, mlp_dim=3072,
                 n_classes=1000):
        super().__init__()
        self.patch_size = patch_size
        self.embed = nn.Linear(channels * patch_size * patch_size, width)
        self.first = nn.Parameter(torch.randn(width) * 0.02)
        self.positions = nn.Parameter(torch.randn((img_size // patch_size) ** 2 + 1, width) * 0.02)
        self.layers = nn.ModuleList(Layer(width, n_heads, mlp_dim) for _ in range(layers))
        self.output = nn.Linear(width, n_classes)

    def forward(self, img):
        patches = to_windows(img, self.patch_size)
        tokens = self.embed(patches.flatten(start_dim=2))
        first = self.first.view(1, 1, -1).expand(tokens.size(0), 1, tokens.size(2))
        sequence = torch.cat((first, tokens), dim=1) + self.positions
        for layer in self.layers:
            sequence = layer(sequence)
        cls = sequence[:, 0]
        logits = self.output(cls)
        return Result(sequence, cls, logits, logits.softmax(dim=1))
