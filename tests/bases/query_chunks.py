import torch
import torch.nn as nn


class ChunkedSelfAttention(nn.Module):
    """Attends a few queries at a time, so that the full score matrix never sits in memory."""

    def __init__(self, hidden_size, n_heads, chunk=4):
        super().__init__()
        self.n_heads = n_heads
        self.chunk = chunk
        self.query = nn.Linear(hidden_size, hidden_size)
        self.key_value = nn.Linear(hidden_size, 2 * hidden_size)
        self.output = nn.Linear(hidden_size, hidden_size)

    def forward(self, hidden):
        batch, length, size = hidden.size()
        head_size = size // self.n_heads
        q = self.query(hidden).view(batch, length, self.n_heads, head_size).permute(0, 2, 1, 3)
        k, v = self.key_value(hidden).view(batch, length, 2, self.n_heads, head_size).permute(2, 0, 3, 1, 4)
        contexts = []
        for piece in q.split(self.chunk, dim=2):
            weights = (piece @ k.transpose(2, 3) / head_size ** 0.5).softmax(dim=-1)
            contexts.append(weights @ v)
        context = torch.cat(contexts, dim=2).permute(0, 2, 1, 3).flatten(2)
        return self.output(context)


class TransformerLayer(nn.Module):
    def __init__(self, hidden_size, n_heads, intermediate_size):
        super().__init__()
        self.before_attention = nn.LayerNorm(hidden_size)
        self.attention = ChunkedSelfAttention(hidden_size, n_heads)
        self.before_mlp = nn.LayerNorm(hidden_size)
        self.mlp = nn.Sequential(
            nn.Linear(hidden_size, intermediate_size), nn.GELU(), nn.Linear(intermediate_size, hidden_size)
        )

    def forward(self, hidden):
        hidden = hidden + self.attention(self.before_attention(hidden))
        return hidden + self.mlp(self.before_mlp(hidden))


class ChunkedViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, num_channels=3, hidden_size=768, num_hidden_layers=12,
                 num_attention_heads=12, intermediate_size=3072, num_labels=1000):
        super().__init__()
        self.projection = nn.Conv2d(num_channels, hidden_size, patch_size, stride=patch_size)
        self.class_embedding = nn.Parameter(torch.randn(1, 1, hidden_size))
        self.position_embedding = nn.Parameter(torch.randn(1, 1 + (image_size // patch_size) ** 2, hidden_size))
        self.encoder = nn.Sequential(
            *(TransformerLayer(hidden_size, num_attention_heads, intermediate_size) for _ in range(num_hidden_layers))
        )
        self.layernorm = nn.LayerNorm(hidden_size)
        self.classifier = nn.Linear(hidden_size, num_labels)

    def forward(self, pixel_values):
        patches = self.projection(pixel_values).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(pixel_values.size(0), -1, -1)
        hidden = torch.cat([first, patches], dim=1) + self.position_embedding
        return self.classifier(self.layernorm(self.encoder(hidden))[:, 0])
