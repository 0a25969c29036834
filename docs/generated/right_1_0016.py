import torch
import torch.nn as nn
import math


class ViT(nn.Module):
    def __init__(self, img_size, patch_size, in_channels, embed_dim, depth, num_heads, mlp_dim, num_classes):
        super().__init__()
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2 + 1, embed_dim))
        self.depth = depth
        self.norm1 = nn.ModuleList([nn.LayerNorm(embed_dim, eps=1e-6) for _ in range(self.depth)])
        self.norm2 = nn.ModuleList([nn.LayerNorm(embed_dim, eps=1e-6) for _ in range(self.depth)])
        self.qkv = nn.ModuleList([nn.Linear(embed_dim, embed_dim * 3) for _ in range(self.depth)])
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.out_proj = nn.ModuleList([nn.Linear(embed_dim, embed_dim) for _ in range(self.depth)])
        self.fc1 = nn.ModuleList([nn.Linear(embed_dim, mlp_dim) for _ in range(self.depth)])
        self.fc2 = nn.ModuleList([nn.Linear(mlp_dim, embed_dim) for _ in range(self.depth)])
        self.act = nn.GELU()
        self.norm = nn.LayerNorm(embed_dim, eps=1e-6)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        x = self.proj(x).flatten(2).transpose(1, 2)
        cls_tokens = self.cls_token.expand(x.shape[0], -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        x = x + self.pos_embed
        for i in range(self.depth):
            B, N, C = x.shape
            qkv_out = self.qkv[i](x).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
            q, k, v = qkv_out[0], qkv_out[1], qkv_out[2]
            attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
            attn_probs = attn.softmax(dim=-1)
            out = attn_probs @ v
            concat = out.transpose(1, 2).reshape(B, N, -1)
            attn_out = self.out_proj[i](concat)
            x = self.norm1[i](x + attn_out)
            hidden = self.act(self.fc1[i](x))
            mlp_out = self.fc2[i](hidden)
            x = self.norm2[i](x + mlp_out)
        x = self.norm(x)
        x = x[:, 0]
        return self.head(x)
