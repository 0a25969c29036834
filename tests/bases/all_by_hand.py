import math
from dataclasses import dataclass
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class ViTOutput:
    logits: torch.Tensor
    attention_maps: List[torch.Tensor]


def my_gelu(x):
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


def my_softmax(x):
    x = x - x.max(dim=-1, keepdim=True).values
    e = x.exp()
    return e / e.sum(dim=-1, keepdim=True)


class Affine(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.w = nn.Parameter(torch.randn(n_in, n_out) / math.sqrt(n_in))
        self.b = nn.Parameter(torch.zeros(n_out))

    def forward(self, x):
        return torch.tensordot(x, self.w, dims=1) + self.b


class Norm(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(n))
        self.delta = nn.Parameter(torch.zeros(n))

    def forward(self, x):
        return F.layer_norm(x, (x.size(-1),), self.gamma, self.delta, eps=1e-6)


class Head(nn.Module):
    def __init__(self, d, dh):
        super().__init__()
        self.q, self.k, self.v = Affine(d, dh), Affine(d, dh), Affine(d, dh)
        self.scaling = 1 / math.sqrt(dh)

    def forward(self, x):
        a = my_softmax(self.scaling * self.q(x).matmul(self.k(x).transpose(-1, -2)))
        return a.matmul(self.v(x)), a


class Layer(nn.Module):
    def __init__(self, d, n_head, d_ff):
        super().__init__()
        self.heads = nn.ModuleList([Head(d, d // n_head) for _ in range(n_head)])
        self.mix = Affine(d, d)
        self.na, self.nb = Norm(d), Norm(d)
        self.up, self.down = Affine(d, d_ff), Affine(d_ff, d)

    def forward(self, x):
        y = self.na(x)
        pairs = [head(y) for head in self.heads]
        x = x + self.mix(torch.cat([c for c, _ in pairs], dim=-1))
        x = x + self.down(my_gelu(self.up(self.nb(x))))
        return x, torch.stack([a for _, a in pairs], dim=1)


class ScratchViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, d_model=768, n_layers=12, n_head=12, d_ff=3072,
                 n_classes=1000):
        super().__init__()
        self.ps = patch_size
        self.embed = Affine(in_channels * patch_size ** 2, d_model)
        self.cls = nn.Parameter(torch.randn(1, 1, d_model))
        self.pos = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2 + 1, d_model))
        self.layers = nn.ModuleList([Layer(d_model, n_head, d_ff) for _ in range(n_layers)])
        self.out_norm = Norm(d_model)
        self.out = Affine(d_model, n_classes)

    def forward(self, x):
        rows = [strip.split(self.ps, dim=3) for strip in x.split(self.ps, dim=2)]
        patches = torch.stack([window.flatten(1) for row in rows for window in row], dim=1)
        x = self.embed(patches)
        x = torch.cat([self.cls.expand(len(x), 1, -1), x], dim=1).add(self.pos)
        maps = []
        for layer in self.layers:
            x, a = layer(x)
            maps.append(a)
        return ViTOutput(logits=self.out(self.out_norm(x)[:, 0]), attention_maps=maps)
