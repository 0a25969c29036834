import math

import torch
from torch import nn


def sinusoid_table(n_positions, dim):
    position = torch.arange(n_positions).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, dim, 2) * (-math.log(10000.0) / dim))
    table = torch.zeros(n_positions, dim)
    table[:, 0::2] = torch.sin(position * div_term)
    table[:, 1::2] = torch.cos(position * div_term)
    return table.unsqueeze(0)


class PositionalEncoding(nn.Module):
    def __init__(self, n_positions, dim):
        super().__init__()
        self.register_buffer("pe", sinusoid_table(n_positions, dim))

    def forward(self, x):
        return x + self.pe[:, : x.size(1)]


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.wq = nn.Linear(dim, dim)
        self.wk = nn.Linear(dim, dim)
        self.wv = nn.Linear(dim, dim)
        self.wo = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        q = self.wq(x).view(b, t, self.heads, d // self.heads).transpose(1, 2)
        k = self.wk(x).view(b, t, self.heads, d // self.heads).transpose(1, 2)
        v = self.wv(x).view(b, t, self.heads, d // self.heads).transpose(1, 2)
        score = q @ k.transpose(2, 3) / math.sqrt(d // self.heads)
        return self.wo((score.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.n1 = nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.n2 = nn.LayerNorm(dim)
        self.ffn = nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.ffn(self.n2(x))


class ViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, n_channels=3, d_model=768, n_layers=12, n_heads=12, d_hidden=3072,
                 n_classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(n_channels, d_model, patch_size, patch_size)
        self.cls_token = nn.Parameter(torch.randn(1, 1, d_model))
        self.positional_encoding = PositionalEncoding((img_size // patch_size) ** 2 + 1, d_model)
        self.blocks = nn.Sequential(*[Block(d_model, n_heads, d_hidden) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.classifier = nn.Linear(d_model, n_classes)

    def forward(self, images):
        x = self.patch(images).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(images.size(0), -1, -1), x), dim=1)
        x = self.positional_encoding(x)
        x = self.blocks(x)
        return self.classifier(self.norm(x)[:, 0])
