import math

import torch
import torch.nn as nn


class AttentionHead(nn.Module):
    def __init__(self, embed_dim, head_dim):
        super().__init__()
        self.q = nn.Linear(embed_dim, head_dim)
        self.k = nn.Linear(embed_dim, head_dim)
        self.v = nn.Linear(embed_dim, head_dim)

    def forward(self, hidden_state):
        q, k, v = self.q(hidden_state), self.k(hidden_state), self.v(hidden_state)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.size(-1))
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights, v)


class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        head_dim = embed_dim // num_heads
        self.heads = nn.ModuleList([AttentionHead(embed_dim, head_dim) for _ in range(num_heads)])
        self.output_linear = nn.Linear(embed_dim, embed_dim)

    def forward(self, hidden_state):
        x = torch.cat([head(hidden_state) for head in self.heads], dim=-1)
        return self.output_linear(x)


class TransformerEncoderLayer(nn.Module):
    def __init__(self, embed_dim, num_heads, intermediate_size):
        super().__init__()
        self.layer_norm_1 = nn.LayerNorm(embed_dim)
        self.layer_norm_2 = nn.LayerNorm(embed_dim)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.linear_1 = nn.Linear(embed_dim, intermediate_size)
        self.linear_2 = nn.Linear(intermediate_size, embed_dim)
        self.gelu = nn.GELU()

    def forward(self, x):
        hidden_state = self.layer_norm_1(x)
        x = x + self.attention(hidden_state)
        x = x + self.linear_2(self.gelu(self.linear_1(self.layer_norm_2(x))))
        return x


class Embeddings(nn.Module):
    def __init__(self, img_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.num_patches = (img_size // patch_size) * (img_size // patch_size)
        self.patches = nn.Conv2d(in_channels, embed_dim, kernel_size=patch_size, stride=patch_size)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.position_embeddings = nn.Embedding(self.num_patches + 1, embed_dim)

    def forward(self, x):
        x = self.patches(x)
        x = x.flatten(2)
        x = x.transpose(-1, -2)
        cls_tokens = self.cls_token.expand(x.size(0), -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        position_ids = torch.arange(x.size(1), device=x.device).unsqueeze(0)
        return x + self.position_embeddings(position_ids)


class ViTForClassification(nn.Module):
    def __init__(self, img_size=224, patch_size=16, in_channels=3, embed_dim=768, num_heads=12,
                 intermediate_size=3072, num_hidden_layers=12, num_classes=1000):
        super().__init__()
        self.embeddings = Embeddings(img_size, patch_size, in_channels, embed_dim)
        self.layers = nn.ModuleList(
            [TransformerEncoderLayer(embed_dim, num_heads, intermediate_size) for _ in range(num_hidden_layers)]
        )
        self.layer_norm = nn.LayerNorm(embed_dim)
        self.classifier = nn.Linear(embed_dim, num_classes)

    def forward(self, x):
        x = self.embeddings(x)
        for layer in self.layers:
            x = layer(x)
        x = self.layer_norm(x)[:, 0, :]
        return self.classifier(x)
