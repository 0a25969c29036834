import torch
from torch import nn


class Dense(nn.Module):
    """Flat matrices only: the bias comes with the product."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        self.kernel = nn.Parameter(torch.randn(fan_in, fan_out) * fan_in ** -0.5)
        self.bias = nn.Parameter(torch.zeros(fan_out))

    def forward(self, flat):
        return torch.addmm(self.bias, flat, self.kernel)

    def added_to(self, residual, flat):
        """residual + flat · kernel + bias in one call"""
        return torch.addmm(residual + self.bias, flat, self.kernel)


class Block(nn.Module):
    def __init__(self, width, heads, mlp_width):
        super().__init__()
        self.heads = heads
        self.ln_a, self.ln_b = nn.LayerNorm(width), nn.LayerNorm(width)
        self.q, self.k, self.v, self.o = (Dense(width, width) for _ in range(4))
        self.wide, self.narrow = Dense(width, mlp_width), Dense(mlp_width, width)

    def split(self, flat, batch):
        return flat.view(batch, -1, self.heads, flat.shape[1] // self.heads).transpose(1, 2)

    def forward(self, x):
        batch, tokens, width = x.shape
        x = x.reshape(-1, width)
        y = self.ln_a(x)
        q, k, v = self.split(self.q(y), batch), self.split(self.k(y), batch), self.split(self.v(y), batch)
        weights = torch.softmax(q.matmul(k.mT).mul(q.shape[-1] ** -0.5), -1)
        context = weights.matmul(v).transpose(1, 2).reshape(-1, width)
        x = self.o.added_to(x, context)
        x = self.narrow.added_to(x, torch.nn.functional.gelu(self.wide(self.ln_b(x))))
        return x.view(batch, tokens, width)


class ViT(nn.Module):
    def __init__(self, image_size=224, patch_size=16, channels=3, embed_dim=768, depth=12, heads=12, mlp_width=3072,
                 classes=1000):
        super().__init__()
        self.patch = nn.Conv2d(channels, embed_dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.positions = nn.Parameter(torch.randn(1, (image_size // patch_size) ** 2 + 1, embed_dim))
        self.blocks = nn.ModuleList(Block(embed_dim, heads, mlp_width) for _ in range(depth))
        self.ln = nn.LayerNorm(embed_dim)
        self.scores = Dense(embed_dim, classes)

    def forward(self, image):
        x = self.patch(image).flatten(2).mT
        x = torch.cat([self.cls.expand(len(image), 1, -1), x], 1).add_(self.positions)
        for block in self.blocks:
            x = block(x)
        return self.scores(self.ln(x[:, 0]))
