import numpy as np
import torch
from torch import nn


def sincos_table(n_positions, d):
    def angle(pos):
        return [pos / np.power(10000, 2 * (i // 2) / d) for i in range(d)]
    table = np.array([angle(p) for p in range(n_positions)])
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return torch.FloatTensor(table)[None]


def split_order(grid, patch):
    """Index array that gathers all pixels, patch after patch."""
    side = grid * patch
    idx = np.arange(side * side).reshape(grid, patch, grid, patch).transpose(0, 2, 1, 3).reshape(grid * grid, -1)
    return torch.from_numpy(np.ascontiguousarray(idx))


class MHSA(nn.Module):
    def __init__(self, d, n_heads=2):
        super().__init__()
        assert d % n_heads == 0
        self.d_head = d // n_heads
        self.n_heads = n_heads
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = np.split(np.arange(3), 3)  # which third is which
        parts = self.qkv(x).reshape(n, t, 3, self.n_heads, self.d_head)
        q, k, v = (parts[:, :, int(i[0])] for i in (q, k, v))
        att = torch.einsum("nqhd,nkhd->nhqk", q, k) / np.sqrt(self.d_head)
        att = torch.softmax(att, dim=-1)
        return self.out(torch.einsum("nhqk,nkhd->nqhd", att, v).reshape(n, t, d))


class Block(nn.Module):
    def __init__(self, hidden_d, n_heads, mlp_d):
        super().__init__()
        self.norm1 = nn.LayerNorm(hidden_d)
        self.mhsa = MHSA(hidden_d, n_heads)
        self.norm2 = nn.LayerNorm(hidden_d)
        self.mlp = nn.Sequential(nn.Linear(hidden_d, mlp_d), nn.GELU(), nn.Linear(mlp_d, hidden_d))

    def forward(self, x):
        out = x + self.mhsa(self.norm1(x))
        out = out + self.mlp(self.norm2(out))
        return out


class MyViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, channels=3, hidden_d=768, n_blocks=12, n_heads=12, mlp_d=3072, out_d=1000):
        super().__init__()
        grid = img_size // patch_size
        self.register_buffer("order", split_order(grid, patch_size))
        self.register_buffer("pos", sincos_table(grid ** 2 + 1, hidden_d), persistent=False)
        self.mapper = nn.Linear(channels * patch_size ** 2, hidden_d)
        self.class_token = nn.Parameter(torch.rand(1, hidden_d))
        self.blocks = nn.ModuleList([Block(hidden_d, n_heads, mlp_d) for _ in range(n_blocks)])
        self.norm = nn.LayerNorm(hidden_d)
        self.mlp = nn.Linear(hidden_d, out_d)

    def forward(self, images):
        n, c, h, w = images.shape
        flat = images.reshape(n, c, h * w)
        patches = torch.index_select(flat, 2, self.order.flatten()).reshape(n, c, len(self.order), -1)
        patches = patches.transpose(1, 2).reshape(n, len(self.order), -1)
        tokens = self.mapper(patches)
        tokens = torch.stack([torch.vstack((self.class_token, tokens[i])) for i in range(len(tokens))])
        out = tokens + self.pos.repeat(n, 1, 1)
        for block in self.blocks:
            out = block(out)
        return self.mlp(self.norm(out)[:, 0])
