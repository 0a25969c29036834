import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.scaling = (dim // num_heads) ** -0.5
        self.q_proj = nn.Linear(dim, dim)
        self.k_proj = nn.Linear(dim, dim)
        self.v_proj = nn.Linear(dim, dim)
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, x):
        bsz, n, dim = x.shape
        q = self.q_proj(x) * self.scaling
        k = self.k_proj(x)
        v = self.v_proj(x)
        q = q.reshape(bsz, n, self.num_heads, -1).transpose(1, 2)
        k = k.reshape(bsz, n, self.num_heads, -1).transpose(1, 2)
        v = v.reshape(bsz, n, self.num_heads, -1).transpose(1, 2)
        w = torch.softmax(q @ k.transpose(2, 3), dim=-1)
        return self.out_proj((w @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, dim, num_heads, ffn_dim):
        super().__init__()
        self.self_attn = Attention(dim, num_heads)
        self.self_attn_layer_norm = nn.LayerNorm(dim, eps=1e-6)
        self.fc1 = nn.Linear(dim, ffn_dim)
        self.fc2 = nn.Linear(ffn_dim, dim)
        self.final_layer_norm = nn.LayerNorm(dim, eps=1e-6)

    def forward(self, x):
        residual = x
        x = self.self_attn_layer_norm(x)
        x = self.self_attn(x)
        x = residual + x
        residual = x
        x = self.final_layer_norm(x)
        x = self.fc2(torch.nn.functional.gelu(self.fc1(x)))
        x = residual + x
        return x


class VisionTransformer(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_chans=3, dim=768, depth=12, num_heads=12, ffn_dim=3072, classes=1000):
        super().__init__()
        self.stem = nn.Conv2d(in_chans, dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, dim))
        self.blocks = nn.ModuleList([Block(dim, num_heads, ffn_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim, eps=1e-6)
        self.head = nn.Linear(dim, classes)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls.expand(x.shape[0], -1, -1), x], 1) + self.pos
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])
