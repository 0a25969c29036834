import math

import torch
from torch import nn


class MyLayerNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(dim))
        self.beta = nn.Parameter(torch.zeros(dim))

    def forward(self, x):
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, unbiased=False)
        x_hat = (x - mean) / torch.sqrt(var + self.eps)
        return self.gamma * x_hat + self.beta


def my_gelu(x):
    return 0.5 * x * (1.0 + torch.erf(x / math.sqrt(2.0)))


def my_softmax(x):
    x = x - x.amax(dim=-1, keepdim=True)
    e = torch.exp(x)
    return e / e.sum(dim=-1, keepdim=True)


class Block(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads = heads
        self.norm1 = MyLayerNorm(dim)
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)
        self.norm2 = MyLayerNorm(dim)
        self.fc1 = nn.Linear(dim, hidden)
        self.fc2 = nn.Linear(hidden, dim)

    def attention(self, x):
        B, T, D = x.shape
        d = D // self.heads
        q = self.q(x).view(B, T, self.heads, d).transpose(1, 2)
        k = self.k(x).view(B, T, self.heads, d).transpose(1, 2)
        v = self.v(x).view(B, T, self.heads, d).transpose(1, 2)
        scores = q.matmul(k.transpose(-1, -2)).div(math.sqrt(d))
        ctx = my_softmax(scores).matmul(v)
        return self.o(ctx.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        x = x + self.fc2(my_gelu(self.fc1(self.norm2(x))))
        return x


class MyViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, channels=3, dim=768, heads=12, hidden=3072, n_blocks=12, out_d=1000):
        super().__init__()
        self.patch_size = patch_size
        self.linear_mapper = nn.Linear(channels * patch_size ** 2, dim)
        self.class_token = nn.Parameter(torch.rand(1, dim))
        self.pos_embed = nn.Parameter(torch.randn((img_size // patch_size) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, heads, hidden) for _ in range(n_blocks)])
        self.norm = MyLayerNorm(dim)
        self.head = nn.Linear(dim, out_d)

    def patchify(self, images):
        p = self.patch_size
        rows = []
        for i in range(images.shape[2] // p):
            for j in range(images.shape[3] // p):
                rows.append(images[:, :, i * p:(i + 1) * p, j * p:(j + 1) * p].flatten(1))
        return torch.stack(rows, dim=1)

    def forward(self, images):
        tokens = self.linear_mapper(self.patchify(images))
        tokens = torch.stack([torch.vstack((self.class_token, tokens[i])) for i in range(len(tokens))])
        out = tokens + self.pos_embed
        for block in self.blocks:
            out = block(out)
        out = self.norm(out)
        return self.head(out[:, 0])
