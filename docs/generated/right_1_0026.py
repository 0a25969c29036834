import torch
import torch.nn as nn
import math


class PatchEmbed(nn.Module):
    """Split the image into patches and embed them."""

    def __init__(self, patch_size, in_channels, embed_dim):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)

    def forward(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)


class Embeddings(nn.Module):
    """Patch embedding, class token and position embedding."""

    def __init__(self, patch_size, in_channels, embed_dim, img_size):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_channels, embed_dim)
        self.pos_embed = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2, embed_dim))

    def forward(self, x):
        emb = self.patch_embed(x)
        x_pos = emb + self.pos_embed
        return x_pos


class Attention(nn.Module):
    """Multi-head self-attention"""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.qkv = nn.Linear(embed_dim, embed_dim * 3)
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, tokens):
        B, N, _ = tokens.shape
        qkv_out = self.qkv(tokens).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv_out[0], qkv_out[1], qkv_out[2]
        attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        attn_probs = attn.softmax(dim=-1)
        out = attn_probs @ v
        concat = out.transpose(1, 2).reshape(B, N, -1)
        attn_out = self.proj(concat)
        return attn_out


class MLP(nn.Module):
    """Two layer MLP."""

    def __init__(self, mlp_dim, embed_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, mlp_dim)
        self.fc2 = nn.Linear(mlp_dim, embed_dim)
        self.act = nn.GELU()

    def forward(self, tokens):
        hidden = self.act(self.fc1(tokens))
        mlp_out = self.fc2(hidden)
        return mlp_out


class Block(nn.Module):
    """One encoder block: attention and MLP."""

    def __init__(self, embed_dim, num_heads, mlp_dim):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim)
        self.norm2 = nn.LayerNorm(embed_dim)
        self.attn = Attention(embed_dim, num_heads)
        self.ffn = MLP(mlp_dim, embed_dim)

    def forward(self, tokens):
        tokens = tokens + self.attn(self.norm1(tokens))
        tokens = tokens + self.ffn(self.norm2(tokens))
        return tokens


class TransformerEncoderClassifier(nn.Module):
    """Vision Transformer"""

    def __init__(self, img_size=224, patch_size=16, in_channels=3, embed_dim=768, depth=12, num_heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.embeddings = Embeddings(patch_size, in_channels, embed_dim, img_size)
        self.blocks = nn.ModuleList([Block(embed_dim, num_heads, mlp_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        x_pos = self.embeddings(x)
        for block in self.blocks:
            x_pos = block(x_pos)
        encoded = self.norm(x_pos)
        cls_rep = encoded.mean(dim=1)
        return self.head(cls_rep)
