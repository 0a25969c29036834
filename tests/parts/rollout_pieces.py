"""Every step a function of its own, for an own model; the rollout starts from raw attention."""

import math

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.out = nn.Linear(dim, dim)
        self.last = None

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = (t.view(B, T, self.heads, -1).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        probs = (q @ k.transpose(-2, -1) / math.sqrt(D // self.heads)).softmax(-1)
        self.last = probs
        return self.out((probs @ v).transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class ViT(nn.Module):
    def __init__(self, img_size, patch_size, in_channels, dim, depth, heads, mlp_dim, num_classes):
        super().__init__()
        self.patch = nn.Conv2d(in_channels, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.randn(1, 1, dim))
        self.pos = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2 + 1, dim))
        self.layers = nn.ModuleList(Block(dim, heads, mlp_dim) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, num_classes)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.size(0), -1, -1), x], dim=1) + self.pos
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


def fuse_heads(attention, mode="mean"):
    return attention.mean(1) if mode == "mean" else attention.amax(1)


def add_residual(attention, alpha=0.5):
    return alpha * attention + (1 - alpha) * torch.eye(attention.shape[-1])


def normalize_rows(attention):
    return attention / attention.sum(dim=-1, keepdim=True)


def get_attention(model, img):
    model.eval()
    with torch.no_grad():
        model(img)
    return [normalize_rows(add_residual(fuse_heads(layer.attn.last))) for layer in model.layers]


def rollout(attentions, head_fusion="mean", discard_ratio=0.9):
    result = torch.eye(attentions[0].size(-1))
    for attention in attentions:
        fused = fuse_heads(attention, head_fusion)
        flat = fused.view(fused.size(0), -1).clone()
        _, indices = flat.topk(int(flat.size(-1) * discard_ratio), -1, False)
        fused = flat.scatter(-1, indices, 0.0).view_as(fused)
        result = normalize_rows(add_residual(fused)) @ result
    return result


def class_token_heatmap(rollout, img, patch_size):
    H, W = img.shape[-2:]
    rows, columns = H // patch_size, W // patch_size
    mask = rollout[:, 0, 1:].reshape(-1, rows, columns)
    mask = (mask - mask.min()) / (mask.max() - mask.min())
    return F.interpolate(mask.unsqueeze(1), size=(H, W), mode="bilinear", align_corners=False).squeeze(1)


def similarity_of_positions(pos, grid):
    patches = pos[0, 1:]
    rows, columns = grid
    tiles = [F.cosine_similarity(one[None], patches, dim=-1).view(rows, columns) for one in patches]
    return torch.stack(tiles).view(rows, columns, rows, columns)


def principal_components(filters, n):
    flat = filters.flatten(1)
    _, _, vh = torch.linalg.svd(flat - flat.mean(0), full_matrices=False)
    return vh[:n].view(n, *filters.shape[1:]).permute(0, 2, 3, 1)
