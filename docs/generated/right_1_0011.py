import torch
import torch.nn as nn
import math


class PatchEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.to_windows = nn.Unfold(kernel_size=8, stride=8)
        self.proj = nn.Linear(3 * 8 * 8, 64)

    def forward(self, images):
        flat = self.to_windows(images).permute(0, 2, 1)
        return self.proj(flat)


class Embeddings(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch_embed = PatchEncoder()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, 64))
        self.pos_embed = nn.Parameter(torch.randn(1, (32 // 8) ** 2 + 1, 64))

    def forward(self, images):
        emb = self.patch_embed(images)
        cls_tokens = self.cls_token.expand(emb.shape[0], -1, -1)
        x_tokens = torch.cat((cls_tokens, emb), dim=1)
        x = x_tokens + self.pos_embed
        return x


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(64, 64 * 3)
        self.num_heads = 4
        self.head_dim = 64 // 4
        self.out_proj = nn.Linear(64, 64)

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
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 256)
        self.fc2 = nn.Linear(256, 64)
        self.act = nn.GELU()

    def forward(self, tokens):
        hidden = self.act(self.fc1(tokens))
        mlp_out = self.fc2(hidden)
        return mlp_out


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(64)
        self.norm2 = nn.LayerNorm(64)
        self.attn = Attention()
        self.ffn = MLP()

    def forward(self, tokens):
        tokens = tokens + self.attn(self.norm1(tokens))
        tokens = tokens + self.ffn(self.norm2(tokens))
        return tokens


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.embeddings = Embeddings()
        self.blocks = nn.ModuleList([Block() for _ in range(4)])
        self.norm = nn.LayerNorm(64)
        self.head = nn.Linear(64, 100)

    def forward(self, images):
        x = self.embeddings(images)
        for block in self.blocks:
            x = block(x)
        encoded = self.norm(x)
        cls_rep = encoded[:, 0]
        return self.head(cls_rep)
