import torch
from torch import nn


def streaming_attention(q, k, v, block=8):
    """Online softmax (Milakov and Gimelshein 2018): keys arrive in blocks, the maximum is corrected as it grows."""
    scale = q.shape[-1] ** -0.5
    peak = q.new_full((*q.shape[:-1], 1), float("-inf"))
    total = torch.zeros_like(peak)
    acc = torch.zeros_like(q)
    for start in range(0, k.shape[-2], block):
        kb, vb = k[..., start:start + block, :], v[..., start:start + block, :]
        s = q @ kb.mT * scale
        new_peak = torch.maximum(peak, s.amax(-1, keepdim=True))
        fade = torch.exp(peak - new_peak)
        p = torch.exp(s - new_peak)
        total = total * fade + p.sum(-1, keepdim=True)
        acc = acc * fade + p @ vb
        peak = new_peak
    return acc / total


class StreamBlock(nn.Module):
    def __init__(self, dim, heads, ffn):
        super().__init__()
        self.heads = heads
        self.pre = nn.LayerNorm(dim)
        self.in_proj = nn.Linear(dim, dim * 3)
        self.out_proj = nn.Linear(dim, dim)
        self.post = nn.LayerNorm(dim)
        self.lin1 = nn.Linear(dim, ffn)
        self.lin2 = nn.Linear(ffn, dim)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.in_proj(self.pre(x)).tensor_split(3, -1))
        x = x + self.out_proj(streaming_attention(q, k, v).transpose(1, 2).flatten(-2))
        return x + self.lin2(nn.functional.gelu(self.lin1(self.post(x))))


class StreamingViT(nn.Module):
    def __init__(self, res=224, patch=16, chans=3, dim=768, depth=12, heads=12, ffn_dim=3072, n_classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(chans, dim, patch, patch)
        self.cls = nn.Parameter(torch.empty(1, 1, dim).normal_(std=0.02))
        self.pos = nn.Parameter(torch.empty((res // patch) ** 2 + 1, dim).normal_(std=0.02))
        self.blocks = nn.ModuleList(StreamBlock(dim, heads, ffn_dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, images):
        tokens = self.stem(images).flatten(2).mT
        tokens = torch.cat([self.cls.expand(tokens.shape[0], -1, -1), tokens], 1) + self.pos
        for block in self.blocks:
            tokens = block(tokens)
        return self.head(self.norm(tokens[:, 0]))
