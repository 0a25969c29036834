import torch
import torch.nn as nn
import math


class PatchEmbed(nn.Module):
    def __init__(self, patch_size, in_channels, embed_dim):
        super().__init__()
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)

    def forward(self, images):
        pass


class Embeddings(nn.Module):
    def __init__(self, patch_size, in_channels, embed_dim, img_size):
        super().__init__()
        self.patch_embed = PatchEmbed(patch_size, in_channels, embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos_embed = nn.Parameter(torch.randn(1, (img_size // patch_size) ** 2 + 1, embed_dim))

    def forward(self, images):
        emb = self.patch_embed(images)
        cls_tokens = self.cls_token.expand(emb.shape[0], -1, -1)
        x_tokens = torch.cat((cls_tokens, emb), dim=1)
        x = x_tokens + self.pos_embed
        return x


class Attention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.qkv = nn.Linear(embed_dim, embed_dim * 3)
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, tokens):
        B, N, C = tokens.shape
        qkv_out = self.qkv(tokens).reshape(B, N, 3, self.num_heads, self.head_dim).permute(2, 0, 3, 1, 4)
        q, k, v = qkv_out[0], qkv_out[1], qkv_out[2]
        attn = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        attn_probs = attn.softmax(dim=-1)
        out = attn_probs @ v
        concat = out.transpose(1, 2).reshape(B, N, -1)
        attn_out = self.out_proj(concat)
        return attn_out


class MLP(nn.Module):
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


class ViT(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, embed_dim=768, depth=12, num_heads=12, mlp_dim=3072, num_classes=1000):
        super().__init__()
        self.embeddings = Embeddings(patch_size, in_channels, embed_dim, img_size)
        self.blocks = nn.ModuleList([Block(embed_dim, num_heads, mlp_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, images):
        x = self.embeddings(images)
        for block in self.blocks:
            x = block(x)
        encoded = self.norm(x)
        cls_rep = encoded[:, 0]
        return self.head(cls_rep)
