import torch
from torch import nn


class SelfAttention(nn.Module):
    """Works on (tokens, batch, width)."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.in_proj = nn.Linear(width, 3 * width)
        self.out_proj = nn.Linear(width, width)

    def forward(self, x):
        T, B, D = x.shape
        d = D // self.heads
        q, k, v = self.in_proj(x).chunk(3, dim=-1)
        q = q.reshape(T, B * self.heads, d).transpose(0, 1)
        k = k.reshape(T, B * self.heads, d).transpose(0, 1)
        v = v.reshape(T, B * self.heads, d).transpose(0, 1)
        attn = torch.bmm(q, k.transpose(1, 2)) * d ** -0.5
        attn = torch.softmax(attn, dim=-1)
        out = torch.bmm(attn, v).transpose(0, 1).reshape(T, B, D)
        return self.out_proj(out)


class ResidualBlock(nn.Module):
    def __init__(self, width, heads, mlp_width):
        super().__init__()
        self.attn = SelfAttention(width, heads)
        self.ln_1 = nn.LayerNorm(width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, mlp_width), nn.GELU(), nn.Linear(mlp_width, width))

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        x = x + self.mlp(self.ln_2(x))
        return x


class VisionTransformer(nn.Module):
    def __init__(self, input_resolution=224, patch_size=16, in_channels=3, width=768, layers=12, heads=12,
                 mlp_width=3072, output_dim=1000):
        super().__init__()
        self.conv1 = nn.Conv2d(in_channels, width, kernel_size=patch_size, stride=patch_size)
        self.class_embedding = nn.Parameter(width ** -0.5 * torch.randn(width))
        self.positional_embedding = nn.Parameter(
            width ** -0.5 * torch.randn((input_resolution // patch_size) ** 2 + 1, width)
        )
        self.blocks = nn.Sequential(*[ResidualBlock(width, heads, mlp_width) for _ in range(layers)])
        self.ln_post = nn.LayerNorm(width)
        self.head = nn.Linear(width, output_dim)

    def forward(self, x):
        x = self.conv1(x).flatten(2).permute(2, 0, 1)
        cls = self.class_embedding.expand(1, x.shape[1], -1)
        x = torch.cat([cls, x], dim=0)
        x = x + self.positional_embedding.unsqueeze(1)
        x = self.blocks(x)
        x = self.ln_post(x.permute(1, 0, 2))
        return self.head(x[:, 0, :])
