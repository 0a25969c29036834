import torch
from torch import nn
from torch.nn.utils.parametrizations import weight_norm


def wn(n_in, n_out):
    return weight_norm(nn.Linear(n_in, n_out))


class SelfAttention(nn.Module):
    def __init__(self, emb_dim, n_heads):
        super().__init__()
        self.h = n_heads
        self.keys, self.queries, self.values = wn(emb_dim, emb_dim), wn(emb_dim, emb_dim), wn(emb_dim, emb_dim)
        self.unify = wn(emb_dim, emb_dim)

    def forward(self, x):
        b, t, e = x.size()
        s = e // self.h
        keys = self.keys(x).view(b, t, self.h, s).transpose(1, 2).contiguous().view(b * self.h, t, s)
        queries = self.queries(x).view(b, t, self.h, s).transpose(1, 2).contiguous().view(b * self.h, t, s)
        values = self.values(x).view(b, t, self.h, s).transpose(1, 2).contiguous().view(b * self.h, t, s)
        dot = torch.baddbmm(
            torch.zeros(b * self.h, t, t, dtype=x.dtype, device=x.device), queries, keys.mT, beta=0, alpha=1 / s ** 0.5
        ).softmax(dim=2)
        out = torch.bmm(dot, values).view(b, self.h, t, s)
        return self.unify(out.transpose(1, 2).contiguous().view(b, t, e))


class Block(nn.Module):
    def __init__(self, emb_dim, n_heads, ff_hidden):
        super().__init__()
        self.attention = SelfAttention(emb_dim, n_heads)
        self.norm1 = nn.LayerNorm(emb_dim)
        self.norm2 = nn.LayerNorm(emb_dim)
        self.ff = nn.Sequential(wn(emb_dim, ff_hidden), nn.GELU(), wn(ff_hidden, emb_dim))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.ff(self.norm2(x))


class WeightNormViT(nn.Module):
    """Every linear layer is weight-normalised: direction and length of its rows are parameters of their own."""

    def __init__(self, img_dim=224, patch_dim=16, in_channels=3, emb_dim=768, num_blocks=12, n_heads=12, ff_hidden=3072,
                 classes=1000):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, emb_dim, patch_dim, patch_dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, emb_dim))
        self.pos_emb = nn.Parameter(torch.randn(1, (img_dim // patch_dim) ** 2 + 1, emb_dim))
        self.blocks = nn.Sequential(*[Block(emb_dim, n_heads, ff_hidden) for _ in range(num_blocks)])
        self.norm = nn.LayerNorm(emb_dim)
        self.head = wn(emb_dim, classes)

    def forward(self, img):
        x = torch.flatten(self.conv(img), 2).transpose(1, 2)
        x = torch.cat([self.cls_token.repeat(img.size(0), 1, 1), x], dim=1)
        x = self.blocks(x + self.pos_emb)
        return self.head(self.norm(x)[:, 0])
