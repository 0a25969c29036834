import torch
from torch import nn


class ChannelNorm(nn.LayerNorm):
    """LayerNorm over the channels of B C N 1 maps."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Conv2d(dim, 3 * dim, kernel_size=1)
        self.proj = nn.Conv2d(dim, dim, kernel_size=1)

    def forward(self, x):
        b, c, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, 3, self.heads, c // self.heads, n).unbind(1)
        attn = (q.transpose(-2, -1) @ k) * (c // self.heads) ** -0.5
        attn = attn.softmax(dim=-1)
        out = v @ attn.transpose(-2, -1)
        return self.proj(out.reshape(b, c, n, 1))


class ConvBlock(nn.Module):
    def __init__(self, dim, heads, hidden):
        super().__init__()
        self.norm1 = ChannelNorm(dim)
        self.attn = ConvAttention(dim, heads)
        self.norm2 = ChannelNorm(dim)
        self.mlp = nn.Sequential(nn.Conv2d(dim, hidden, 1), nn.GELU(), nn.Conv2d(hidden, dim, 1))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return x


class MapViT(nn.Module):
    """Tokens stay a map of B C N 1 from end to end, so that every layer is a convolution."""

    def __init__(self, img_size=224, patch_size=16, in_chans=3, embed_dim=768, depth=12, num_heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.patch_embed = nn.Conv2d(in_chans, embed_dim, patch_size, patch_size)
        self.cls_token = nn.Parameter(torch.randn(1, embed_dim, 1, 1) * 0.02)
        self.pos_embed = nn.Parameter(torch.randn(1, embed_dim, (img_size // patch_size) ** 2 + 1, 1) * 0.02)
        self.blocks = nn.Sequential(*[ConvBlock(embed_dim, num_heads, mlp_dim) for _ in range(depth)])
        self.norm = ChannelNorm(embed_dim)
        self.head = nn.Conv2d(embed_dim, num_classes, 1)

    def forward(self, x):
        x = self.patch_embed(x).flatten(2).unsqueeze(-1)
        x = torch.cat([self.cls_token.expand(x.shape[0], -1, -1, -1), x], dim=2) + self.pos_embed
        x = self.norm(self.blocks(x))
        return self.head(x[:, :, :1]).flatten(1)
