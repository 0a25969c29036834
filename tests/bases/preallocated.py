import torch
from torch import nn


class Buffered(nn.Module):
    """Everything is written into tensors that were allocated before."""

    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.ln = nn.ModuleList([nn.LayerNorm(dim), nn.LayerNorm(dim)])
        self.wqkv = nn.ModuleList([nn.Linear(dim, dim) for _ in range(3)])
        self.wo = nn.Linear(dim, dim)
        self.mlp = nn.ModuleList([nn.Linear(dim, hidden), nn.Linear(hidden, dim)])

    def forward(self, x):
        B, T, D = x.shape
        y = self.ln[0](x)
        qkv = x.new_zeros(3, B, self.heads, T, self.head_dim)
        for i, w in enumerate(self.wqkv):
            qkv[i] = w(y).view(B, T, self.heads, self.head_dim).transpose(1, 2)
        scores = x.new_zeros(B, self.heads, T, T)
        scores.add_(qkv[0].clone() @ qkv[1].clone().transpose(2, 3)).mul_(self.head_dim ** -0.5)
        merged = x.new_zeros(B, T, D)
        context = torch.softmax(scores, dim=3) @ qkv[2].clone()
        for h in range(self.heads):
            merged[:, :, h * self.head_dim:(h + 1) * self.head_dim].copy_(context[:, h])
        out = x.clone()
        out.add_(self.wo(merged))
        hidden = self.mlp[0](self.ln[1](out.clone()))
        out.add_(self.mlp[1](nn.functional.gelu(hidden)))
        return out


class InPlaceViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, dim=768, n_blocks=12, n_heads=12, mlp_hidden=3072,
                 n_classes=1000):
        super().__init__()
        self.proj = nn.Conv2d(in_chans, dim, kernel_size=patch_size, stride=patch_size)
        self.cls = nn.Parameter(torch.randn(dim))
        self.pos = nn.Parameter(torch.randn((img_size // patch_size) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Buffered(dim, n_heads, mlp_hidden) for _ in range(n_blocks)])
        self.final = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, n_classes)

    def forward(self, x):
        patches = self.proj(x).flatten(2)
        tokens = x.new_zeros(x.size(0), patches.size(2) + 1, patches.size(1))
        tokens[:, 0].copy_(self.cls)
        tokens[:, 1:].copy_(patches.transpose(1, 2))
        tokens.add_(self.pos)
        for block in self.blocks:
            tokens = block(tokens)
        return self.head(self.final(tokens)[:, 0])
