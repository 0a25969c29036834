import math

import torch
from torch import nn


class MultiHeadSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def split_heads(self, x):
        batch, tokens, _ = x.shape
        return x.view(batch, tokens, self.num_heads, self.head_dim).permute(0, 2, 1, 3)

    def forward(self, x):
        q = self.split_heads(self.query(x))
        k = self.split_heads(self.key(x))
        v = self.split_heads(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.head_dim)
        weights = torch.softmax(scores, dim=-1)
        context = torch.matmul(weights, v)
        context = context.permute(0, 2, 1, 3).contiguous()
        context = context.view(x.shape[0], x.shape[1], self.embed_dim)
        return self.out(context)


class FeedForward(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(embed_dim, hidden_dim),
            nn.GELU(),
            nn.Linear(hidden_dim, embed_dim),
        )

    def forward(self, x):
        return self.net(x)


class TransformerBlock(nn.Module):
    def __init__(self, embed_dim, num_heads, hidden_dim):
        super().__init__()
        self.ln1 = nn.LayerNorm(embed_dim)
        self.attention = MultiHeadSelfAttention(embed_dim, num_heads)
        self.ln2 = nn.LayerNorm(embed_dim)
        self.mlp = FeedForward(embed_dim, hidden_dim)

    def forward(self, x):
        identity = x
        out = self.attention(self.ln1(x))
        x = identity + out
        identity = x
        out = self.mlp(self.ln2(x))
        return identity + out


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, num_channels=3, num_classes=1000, embed_dim=768,
                 num_layers=12, num_heads=12, hidden_dim=3072):
        super().__init__()
        self.embedding = nn.Conv2d(num_channels, embed_dim, patch_size, stride=patch_size)
        n_patches = (image_size // patch_size) ** 2
        self.class_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.position_embedding = nn.Parameter(torch.randn(1, n_patches + 1, embed_dim))
        self.encoder = nn.Sequential(*[TransformerBlock(embed_dim, num_heads, hidden_dim) for _ in range(num_layers)])
        self.ln = nn.LayerNorm(embed_dim)
        self.classifier = nn.Linear(embed_dim, num_classes)

    def forward(self, images):
        patches = self.embedding(images)
        patches = patches.flatten(start_dim=2).permute(0, 2, 1)
        cls = self.class_token.repeat(images.shape[0], 1, 1)
        tokens = torch.cat([cls, patches], dim=1)
        tokens = tokens + self.position_embedding
        tokens = self.encoder(tokens)
        return self.classifier(self.ln(tokens)[:, 0])
