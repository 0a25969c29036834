import torch
from torch import nn


def sincos(length, dim):
    omega = 1.0 / 10000 ** (torch.arange(dim // 2, dtype=torch.float64) / (dim / 2))
    angles = torch.outer(torch.arange(length, dtype=torch.float64), omega)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def sincos_2d(rows, columns, dim):
    """Half of the width for the row, half for the column; the class token stands at the origin."""
    by_row = sincos(rows, dim // 2)[:, None].expand(rows, columns, -1)
    by_column = sincos(columns, dim // 2)[None].expand(rows, columns, -1)
    grid = torch.cat([by_row, by_column], dim=2).flatten(0, 1)
    return torch.cat([torch.zeros(1, dim, dtype=grid.dtype), grid])


class Attn(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, c = x.shape
        qkv = self.qkv(x).reshape(b, n, 3, self.num_heads, c // self.num_heads)
        q, k, v = (qkv[:, :, i].transpose(1, 2) for i in range(3))
        attn = torch.softmax(q @ k.transpose(-1, -2) / (c // self.num_heads) ** 0.5, dim=-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(b, n, c))


class EncoderBlock(nn.Module):
    def __init__(self, dim, num_heads, mlp_dim):
        super().__init__()
        self.ln1, self.attn = nn.LayerNorm(dim), Attn(dim, num_heads)
        self.ln2 = nn.LayerNorm(dim)
        self.fc1, self.act, self.fc2 = nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim)

    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.fc2(self.act(self.fc1(self.ln2(x))))


class SimpleViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, in_channels=3, num_classes=1000, embed_dim=768, depth=12,
                 num_heads=12, mlp_dim=3072):
        super().__init__()
        side = image_size // patch_size
        self.patch_embed = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.register_buffer("pos_embed", sincos_2d(side, side, embed_dim).to(torch.get_default_dtype())[None])
        self.blocks = nn.Sequential(*[EncoderBlock(embed_dim, num_heads, mlp_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1), x], dim=1) + self.pos_embed
        return self.head(self.norm(self.blocks(x))[:, 0])
