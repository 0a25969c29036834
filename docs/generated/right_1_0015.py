import torch
import torch.nn as nn
import math
import numpy as np


def get_positional_embeddings(sequence_length, d):
    result = torch.ones(sequence_length, d)
    for i in range(sequence_length):
        for j in range(d):
            result[i][j] = np.sin(i / (10000 ** (j / d))) if j % 2 == 0 else np.cos(i / (10000 ** ((j - 1) / d)))
    return result


class ViT(nn.Module):
    def __init__(self, img_size, patch_size, in_channels, embed_dim, depth, num_heads, mlp_dim, num_classes):
        super().__init__()
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls_emb = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.num_patches = (img_size // patch_size) ** 2
        self.pe = nn.Parameter(get_positional_embeddings(self.num_patches + 1, embed_dim), requires_grad=False)
        self.depth = depth
        self.norm1 = nn.ModuleList([nn.LayerNorm(embed_dim) for _ in range(self.depth)])
        self.norm2 = nn.ModuleList([nn.LayerNorm(embed_dim) for _ in range(self.depth)])
        self.qkv = nn.ModuleList([nn.Linear(embed_dim, embed_dim * 3) for _ in range(self.depth)])
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.out_proj = nn.ModuleList([nn.Linear(embed_dim, embed_dim) for _ in range(self.depth)])
        self.fc1 = nn.ModuleList([nn.Linear(embed_dim, mlp_dim) for _ in range(self.depth)])
        self.fc2 = nn.ModuleList([nn.Linear(mlp_dim, embed_dim) for _ in range(self.depth)])
        self.act = nn.GELU()
        self.norm = nn.LayerNorm(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, images):
        emb = self.proj(images).flatten(2).transpose(1, 2)
        cls_tokens = self.cls_emb.expand(emb.size(0), -1, -1)
        x_tokens = torch.concat([cls_tokens, emb], dim=1)
        x = x_tokens + self.pe.repeat(x_tokens.shape[0], 1, 1)
        for i in range(self.depth):
            x_norm = self.norm1[i](x)
            B, N, C = x_norm.shape
            qkv_out = self.qkv[i](x_norm).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
            q, k, v = qkv_out[0], qkv_out[1], qkv_out[2]
            attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
            attn_probs = attn.softmax(dim=-1)
            out = attn_probs @ v
            concat = out.transpose(1, 2).reshape(B, N, -1)
            attn_out = self.out_proj[i](concat)
            x = x + attn_out
            x_norm = self.norm2[i](x)
            hidden = self.act(self.fc1[i](x_norm))
            mlp_out = self.fc2[i](hidden)
            x = x + mlp_out
        encoded = self.norm(x)
        cls_rep = encoded[:, 0]
        return self.head(cls_rep)
