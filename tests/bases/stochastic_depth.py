import torch
import torch.nn as nn


class DropPath(nn.Module):
    def __init__(self, p=0.0):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training or self.p == 0.0:
            return x
        keep = 1 - self.p
        mask = torch.rand(x.shape[0], 1, 1, device=x.device, dtype=x.dtype) < keep
        return x * mask / keep


class Attention(nn.Module):
    def __init__(self, embed_dims, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.head_dims = embed_dims // num_heads
        self.qkv = nn.Linear(embed_dims, embed_dims * 3)
        self.proj = nn.Linear(embed_dims, embed_dims)
        self.attn_drop = nn.Dropout(0.0)

    def forward(self, x):
        B, N, _ = x.shape
        qkv = self.qkv(x).reshape(B, N, 3, self.num_heads, self.head_dims).permute(2, 0, 3, 1, 4)
        query, key, value = qkv[0], qkv[1], qkv[2]
        weight = self.attn_drop(torch.softmax(query @ key.transpose(-2, -1) * self.head_dims ** -0.5, dim=-1))
        return self.proj((weight @ value).transpose(1, 2).reshape(B, N, self.num_heads * self.head_dims))


class TransformerEncoderLayer(nn.Module):
    def __init__(self, embed_dims, num_heads, feedforward_channels, drop_path):
        super().__init__()
        self.ln1 = nn.LayerNorm(embed_dims, eps=1e-6)
        self.attn = Attention(embed_dims, num_heads)
        self.drop_path = DropPath(drop_path)
        self.ln2 = nn.LayerNorm(embed_dims, eps=1e-6)
        self.ffn = nn.Sequential(
            nn.Linear(embed_dims, feedforward_channels), nn.GELU(), nn.Linear(feedforward_channels, embed_dims)
        )

    def forward(self, x):
        x = x + self.drop_path(self.attn(self.ln1(x)))
        x = x + self.drop_path(self.ffn(self.ln2(x)))
        return x


class DeepViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, embed_dims=768, num_layers=12, num_heads=12,
                 ffn_dim=3072, num_classes=1000, drop_path_rate=0.1):
        super().__init__()
        self.projection = nn.Conv2d(in_channels, embed_dims, kernel_size=patch_size, stride=patch_size)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dims))
        self.pos_embed = nn.Parameter(torch.zeros(1, (img_size // patch_size) ** 2 + 1, embed_dims))
        rates = torch.linspace(0, drop_path_rate, num_layers).tolist()
        self.layers = nn.ModuleList([TransformerEncoderLayer(embed_dims, num_heads, ffn_dim, rate) for rate in rates])
        self.ln1 = nn.LayerNorm(embed_dims, eps=1e-6)
        self.head = nn.Linear(embed_dims, num_classes)

    def forward(self, x):
        x = self.projection(x).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls_token.expand(x.shape[0], -1, -1), x), dim=1)
        x = x + self.pos_embed
        for layer in self.layers:
            x = layer(x)
        return self.head(self.ln1(x)[:, 0])
