import torch
from torch import nn


class PackedAttention(nn.Module):
    """One projection whose output is laid out head by head: q, k, v of head 0, then of head 1..."""

    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.dh = dim // num_heads
        self.qkv_proj = nn.Linear(dim, 3 * dim)
        self.o_proj = nn.Linear(dim, dim)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        qkv = self.qkv_proj(x)
        qkv = qkv.reshape(batch_size, seq_length, self.num_heads, 3 * self.dh)
        qkv = qkv.permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        attn_logits = torch.matmul(q, k.transpose(-2, -1)) / self.dh ** 0.5
        attention = nn.functional.softmax(attn_logits, dim=-1)
        values = torch.matmul(attention, v).permute(0, 2, 1, 3).reshape(batch_size, seq_length, embed_dim)
        return self.o_proj(values)


class AttentionBlock(nn.Module):
    def __init__(self, embed_dim, hidden_dim, num_heads):
        super().__init__()
        self.layer_norm_1 = nn.LayerNorm(embed_dim)
        self.attn = PackedAttention(embed_dim, num_heads)
        self.layer_norm_2 = nn.LayerNorm(embed_dim)
        self.linear = nn.Sequential(nn.Linear(embed_dim, hidden_dim), nn.GELU(), nn.Linear(hidden_dim, embed_dim))

    def forward(self, x):
        x = x + self.attn(self.layer_norm_1(x))
        x = x + self.linear(self.layer_norm_2(x))
        return x


class VisionTransformer(nn.Module):
    def __init__(self, embed_dim=768, hidden_dim=3072, num_channels=3, num_heads=12, num_layers=12, num_classes=1000,
                 patch_size=16, num_patches=196):
        super().__init__()
        self.patch_size = patch_size
        self.input_layer = nn.Linear(num_channels * patch_size ** 2, embed_dim)
        self.transformer = nn.Sequential(*(AttentionBlock(embed_dim, hidden_dim, num_heads) for _ in range(num_layers)))
        self.norm_out = nn.LayerNorm(embed_dim)
        self.out = nn.Linear(embed_dim, num_classes)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.pos_embedding = nn.Parameter(torch.randn(1, 1 + num_patches, embed_dim))

    def forward(self, x):
        B, C, H, W = x.shape
        s = self.patch_size
        x = x.reshape(B, C, H // s, s, W // s, s).permute(0, 2, 4, 1, 3, 5)
        x = x.flatten(1, 2).flatten(2, 4)
        x = self.input_layer(x)
        B, T, _ = x.shape
        x = torch.cat([self.cls_token.repeat(B, 1, 1), x], dim=1)
        x = x + self.pos_embedding[:, : T + 1]
        x = self.transformer(x)
        return self.out(self.norm_out(x)[:, 0])
