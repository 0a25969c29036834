import torch
from torch import nn


class Lambda(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, *args):
        return self.f(*args)


class AddToken(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.token = nn.Parameter(torch.zeros(1, 1, dim))

    def forward(self, x):
        return torch.cat([self.token.expand(len(x), -1, -1), x], dim=1)


class AddPosition(nn.Module):
    def __init__(self, tokens, dim):
        super().__init__()
        self.table = nn.Parameter(torch.zeros(1, tokens, dim))

    def forward(self, x):
        return x + self.table


class Skip(nn.Sequential):
    def forward(self, x):
        return x + super().forward(x)


class Attend(nn.Module):
    def __init__(self, heads):
        super().__init__()
        self.heads = heads

    def forward(self, qkv):
        q, k, v = (t.unflatten(2, (self.heads, -1)).transpose(1, 2) for t in qkv.chunk(3, 2))
        weights = torch.softmax(q @ k.transpose(2, 3) * q.shape[3] ** -0.5, 3)
        return (weights @ v).transpose(1, 2).flatten(2)


def make_vit(img_size=224, patch_size=16, in_channels=3, dim=768, depth=12, heads=12, mlp_dim=3072, num_classes=1000):
    blocks = [
        nn.Sequential(
            Skip(nn.LayerNorm(dim), nn.Linear(dim, 3 * dim), Attend(heads), nn.Linear(dim, dim)),
            Skip(nn.LayerNorm(dim), nn.Linear(dim, mlp_dim), nn.GELU(), nn.Linear(mlp_dim, dim)),
        )
        for _ in range(depth)
    ]
    return nn.Sequential(
        nn.Conv2d(in_channels, dim, patch_size, patch_size),
        nn.Flatten(2),
        Lambda(lambda x: x.transpose(1, 2)),
        AddToken(dim),
        AddPosition((img_size // patch_size) ** 2 + 1, dim),
        *blocks,
        nn.LayerNorm(dim),
        Lambda(lambda x: x[:, 0]),
        nn.Linear(dim, num_classes),
    )


class ViT(nn.Module):
    def __init__(self, **sizes):
        super().__init__()
        self.model = make_vit(**sizes)

    def forward(self, x):
        return self.model(x)
