"""Fixed sizes, heads in modules of their own, names that say little, sines and cosines."""

import math

import torch
import torch.nn as nn


class PatchEmbed(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_size = 4
        self.projection = nn.Linear(4 * 4 * 3, 48)

    def forward(self, x):
        b, c, h, w = x.shape
        p = self.patch_size
        x = x.reshape(b, c, h // p, p, w // p, p)
        x = x.permute(0, 2, 4, 3, 5, 1)
        x = x.reshape(b, (h // p) * (w // p), p * p * c)
        return self.projection(x)


class CLSToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Parameter(torch.randn(1, 1, 48) * 0.02)

    def forward(self, patches):
        tokens = [torch.vstack([self.token[0], one]) for one in patches]
        return torch.stack(tokens)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model=48, max_len=500):
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.shape[1]]


class LayerNormalization(nn.Module):
    def __init__(self):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(48))
        self.beta = nn.Parameter(torch.zeros(48))

    def forward(self, x):
        mu = x.mean(dim=2, keepdim=True)
        centred = x - mu
        var = (centred**2).mean(dim=2, keepdim=True)
        return self.gamma * centred / (var + 1e-5) ** 0.5 + self.beta


class PlainLayerNorm(nn.Module):
    def forward(self, x):
        return (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()


class Head(nn.Module):
    def __init__(self, dim, size):
        super().__init__()
        self.q = nn.Linear(dim, size)
        self.k = nn.Linear(dim, size)
        self.v = nn.Linear(dim, size)
        self.scale = size**-0.5

    def forward(self, x):
        attn = torch.softmax(self.q(x) @ self.k(x).mT * self.scale, dim=-1)
        return attn @ self.v(x), attn


class MSA(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleList([Head(48, 12) for _ in range(4)])
        self.out = nn.Linear(48, 48)

    def forward(self, x):
        results = [head(x) for head in self.heads]
        out = self.out(torch.cat([one[0] for one in results], dim=-1))
        return out, torch.stack([one[1] for one in results], dim=1)


class FFN(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(48, 96)
        self.down = nn.Linear(96, 48)

    def forward(self, x):
        x = self.up(x)
        x = 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))
        return self.down(x)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1 = LayerNormalization()
        self.msa = MSA()
        self.ln2 = LayerNormalization()
        self.ffn = FFN()

    def forward(self, x):
        attended, _ = self.msa(self.ln1(x))
        x = attended + x
        return self.ffn(self.ln2(x)) + x
