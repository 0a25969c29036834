import math

import torch
import torch.nn as nn
from torch.nn import functional as F


class EncoderBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.dk = n_heads, d_model // n_heads
        self.cache = {}
        self.attn_norm = nn.LayerNorm(d_model)
        self.W_Q, self.W_K, self.W_V = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_O = nn.Linear(d_model, d_model)
        self.mid_norm = nn.LayerNorm(d_model)
        self.ff_1 = nn.Linear(d_model, d_ff)
        self.ff_2 = nn.Linear(d_ff, d_model)
        self.out_norm = nn.LayerNorm(d_model)

    def forward(self, x):
        c = self.cache
        c["S08"] = x
        normed = self.attn_norm(c["S08"])
        for label, layer in (("S09", self.W_Q), ("S10", self.W_K), ("S11", self.W_V)):
            c[label] = layer(normed).view(*x.shape[:2], self.h, self.dk).transpose(1, 2)
        c["S12"] = torch.einsum("bhqd,bhkd->bhqk", c["S09"], c["S10"]) / math.sqrt(self.dk)
        c["S13"] = torch.softmax(c["S12"], dim=-1)
        c["S14"] = torch.einsum("bhqk,bhkd->bhqd", c["S13"], c["S11"])
        c["S15"] = self.W_O(c["S14"].transpose(1, 2).flatten(2))
        c["S16"] = self.mid_norm(c["S08"] + c["S15"])
        c["S17"] = F.gelu(self.ff_1(c["S16"]))
        c["S18"] = self.ff_2(c["S17"])
        c["S19"] = self.out_norm(c["S16"] + c["S18"])
        return c["S19"]


class ViTWithCache(nn.Module):
    """Keeps every stage in ``self.cache`` under its label."""

    def __init__(self, img_size=224, patch_size=16, in_channels=3, d_model=768, n_blocks=12, n_heads=12, d_ff=3072,
                 num_classes=1000):
        super().__init__()
        self.patch_size, self.in_channels = patch_size, in_channels
        self.cache = {}
        self.linear_projection = nn.Linear(in_channels * patch_size ** 2, d_model)
        self.class_token = nn.Parameter(torch.zeros(1, 1, d_model))
        self.position = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, d_model))
        nn.init.trunc_normal_(self.class_token, std=0.02)
        nn.init.trunc_normal_(self.position, std=0.02)
        self.blocks = nn.ModuleList([EncoderBlock(d_model, n_heads, d_ff) for _ in range(n_blocks)])
        self.classifier = nn.Linear(d_model, num_classes)

    def forward(self, image):
        c, p = self.cache, self.patch_size
        c["S01"] = image
        columns = F.unfold(image, kernel_size=p, stride=p).transpose(1, 2)
        c["S02"] = columns.unflatten(2, (self.in_channels, p, p))
        c["S03"] = c["S02"].flatten(2)
        c["S04"] = self.linear_projection(c["S03"])
        c["S05"] = self.class_token.expand(image.shape[0], -1, -1)
        c["S06"] = torch.cat([c["S05"], c["S04"]], dim=1)
        c["S07"] = c["S06"] + self.position
        x = c["S07"]
        for number, block in enumerate(self.blocks):
            x = block(x)
            c[f"block{number + 1}"] = x
        c["S23"] = x
        c["S24"] = c["S23"][:, 0, :]
        c["S25"] = self.classifier(c["S24"])
        c["S26"] = torch.softmax(c["S25"], dim=-1)
        return c["S25"]
