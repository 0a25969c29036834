import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, dim, heads, mlp):
        super().__init__()
        self.fc2 = nn.Linear(mlp, dim)
        self.fc1 = nn.Linear(dim, mlp)
        self.norm2 = nn.LayerNorm(dim)
        self.proj = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.q = nn.Linear(dim, dim)
        self.norm1 = nn.LayerNorm(dim)
        self.heads = heads

    def forward(self, tokens):
        normed = self.norm1(tokens)
        v = self.split(self.v(normed))
        k = self.split(self.k(normed))
        q = self.split(self.q(normed))
        context = nn.functional.scaled_dot_product_attention(q, k, v)
        tokens = self.proj(context.movedim(1, 2).flatten(2)) + tokens
        return self.fc2(nn.functional.gelu(self.fc1(self.norm2(tokens)))) + tokens

    def split(self, t):
        return t.unflatten(-1, (self.heads, -1)).movedim(2, 1)


class Model(nn.Module):
    """Modules are registered from the last to the first."""

    def __init__(self, num_classes=1000, mlp_dim=3072, n_heads=12, depth=12, embed_dim=768, in_channels=3, patch_size=16,
                 image_size=224):
        super().__init__()
        self.head = nn.Linear(embed_dim, num_classes)
        self.norm = nn.LayerNorm(embed_dim)
        self.layers = nn.ModuleDict({
            f"layer{depth - i}": Layer(embed_dim, n_heads, mlp_dim) for i in range(depth)
        })
        self.pos = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, embed_dim))
        self.cls = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.patch = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)

    def forward(self, image):
        tokens = self.patch(image).flatten(2).mT
        tokens = torch.cat([self.cls.expand(len(tokens), 1, -1), tokens], 1)
        tokens = tokens + self.pos
        for i in range(len(self.layers)):
            tokens = self.layers[f"layer{i + 1}"](tokens)
        return self.head(self.norm(tokens)[:, 0])
