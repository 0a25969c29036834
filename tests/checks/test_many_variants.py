"""A right model that has many variants at once, and one that its code makes at no other depth."""

from __future__ import annotations

from pathlib import Path

from one_file import graded_file, right_stages
from test_unfinished import VIT

from vitcheck.submissions.host.process import Zygote

_MODERN = """
import torch
import torch.nn.functional as F
from torch import nn


class Scaled(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((width,), 0.1))

    def forward(self, x):
        return x * self.gamma


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, d = heads, width // heads
        self.q_norm, self.k_norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_kv = nn.Linear(width, 2 * width, bias=False)
        self.to_out = nn.Linear(width, width)

    def forward(self, x):
        b, n, w = x.shape
        q = self.to_q(x).view(b, n, self.heads, -1).transpose(1, 2)
        k, v = self.to_kv(x).view(b, n, 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        scores = torch.einsum("bhid,bhjd->bhij", self.q_norm(q), self.k_norm(k)) * q.shape[-1] ** -0.5
        return self.to_out(torch.einsum("bhij,bhjd->bihd", scores.softmax(-1), v).reshape(b, n, w))


class Gated(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate, self.up = nn.Linear(width, hidden), nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, width, heads, hidden, rate):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width, eps=1e-6), nn.RMSNorm(width, eps=1e-6)
        self.attn, self.mlp, self.drop = Attention(width, heads), Gated(width, hidden), nn.Dropout(rate)
        self.scale1, self.scale2 = Scaled(width), Scaled(width)

    def forward(self, x):
        x = x + self.drop(self.scale1(self.attn(self.norm1(x))))
        return x + self.drop(self.scale2(self.mlp(self.norm2(x))))


class ViT(nn.Module):
    def __init__(self, side=48, patch=6, width=96, depth=4, heads=6, hidden=288, classes=37):
        super().__init__()
        self.stem = nn.Conv2d(3, width, patch, patch)
        self.pos = nn.Parameter(torch.randn(1, (side // patch) ** 2, width) * 0.02)
        rates = [0.1 * one / (depth - 1) for one in range(depth)]
        self.blocks = nn.Sequential(*(Block(width, heads, hidden, rate) for rate in rates))
        self.norm, self.head = nn.RMSNorm(width, eps=1e-6), nn.Linear(width, classes)

    def forward(self, img):
        x = self.stem(img).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.norm(self.blocks(x)).mean(dim=1))
"""


def test_a_modern_model_is_right(zygote: Zygote, tmp_path: Path) -> None:
    result = graded_file(_MODERN, VIT, zygote, tmp_path)
    assert (result.mistakes, result.score.earned) == ([], 100)
    assert right_stages(result) == [one for one in range(1, 27) if one != 5]  # there is no class token
