"""Everything by einsum, with plain parameters."""

import math

import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim: int, heads: int, hidden: int):
        super().__init__()
        size = dim // heads
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.wq, self.wk, self.wv = (
            nn.Parameter(torch.randn(heads, dim, size) / math.sqrt(dim)) for _ in range(3)
        )
        self.wo = nn.Parameter(torch.randn(heads, size, dim) / math.sqrt(dim))
        self.w1 = nn.Parameter(torch.randn(dim, hidden) / math.sqrt(dim))
        self.b1 = nn.Parameter(torch.zeros(hidden))
        self.w2 = nn.Parameter(torch.randn(hidden, dim) / math.sqrt(hidden))
        self.b2 = nn.Parameter(torch.zeros(dim))

    def attend(self, x):
        q, k, v = (torch.einsum("btd,hdk->bhtk", x, w) for w in (self.wq, self.wk, self.wv))
        scores = torch.einsum("bhqk,bhsk->bhqs", q, k) / math.sqrt(q.shape[-1])
        later = torch.ones_like(scores[0, 0]).triu(1).bool()
        weights = torch.where(later, scores.new_tensor(-1e9), scores).softmax(-1)
        return torch.einsum("bhqs,bhsk,hkd->bqd", weights, v, self.wo)

    def forward(self, x):
        x = x + self.attend(self.ln1(x))
        hidden = nn.functional.gelu(torch.einsum("btd,dm->btm", self.ln2(x), self.w1) + self.b1)
        return x + torch.einsum("btm,md->btd", hidden, self.w2) + self.b2


class Decoder(nn.Module):
    def __init__(self, n_vocab: int, n_ctx: int, dim: int = 48, heads: int = 4, mlp_dim: int = 192, depth: int = 3):
        super().__init__()
        self.tokens = nn.Parameter(0.02 * torch.randn(n_vocab, dim))
        self.positions = nn.Parameter(0.02 * torch.randn(n_ctx, dim))
        self.layers = nn.ModuleList([Layer(dim, heads, mlp_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)

    def forward(self, ids):
        x = self.tokens[ids] + self.positions[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x)
        return torch.einsum("btd,vd->btv", self.norm(x), self.tokens)
