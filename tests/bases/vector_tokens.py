import torch
from torch import nn


class PatchAndPosition(nn.Module):
    """Cuts patches, puts the class token first and adds the positions."""

    def __init__(self, image_size, patch, channels, dim):
        super().__init__()
        self.patch = patch
        self.linear = nn.Linear(patch * patch * channels, dim)
        self.cls = nn.Parameter(torch.randn(dim))
        self.pos = nn.Parameter(torch.randn((image_size // patch) ** 2 + 1, dim))

    def forward(self, images):
        b, c, h, w = images.shape
        n = (h // self.patch) * (w // self.patch)
        x = images.reshape(b, c, h // self.patch, self.patch, w // self.patch, self.patch)
        x = x.permute(0, 2, 4, 1, 3, 5).reshape(b, n, -1)
        patches = self.linear(x) + self.pos[1:]
        first = (self.cls + self.pos[0]).repeat(b, 1).unsqueeze(1)
        return torch.cat([first, patches], dim=1)


class Block(nn.Module):
    def __init__(self, dim, heads, mlp_dim):
        super().__init__()
        self.heads = heads
        self.norm_att = nn.LayerNorm(dim)
        self.norm_mlp = nn.LayerNorm(dim)
        self.to_keys = nn.Linear(dim, dim)
        self.to_queries = nn.Linear(dim, dim)
        self.to_values = nn.Linear(dim, dim)
        self.unify_heads = nn.Linear(dim, dim)
        self.expand = nn.Linear(dim, mlp_dim)
        self.shrink = nn.Linear(mlp_dim, dim)

    def attend(self, x):
        b, t, dim = x.shape
        s = dim // self.heads
        keys = self.to_keys(x).view(b, t, self.heads, s).transpose(1, 2)
        queries = self.to_queries(x).view(b, t, self.heads, s).transpose(1, 2)
        values = self.to_values(x).view(b, t, self.heads, s).transpose(1, 2)
        keys = keys / (s ** (1 / 4))
        queries = queries / (s ** (1 / 4))
        dot = (queries @ keys.transpose(2, 3)).softmax(dim=3)
        return self.unify_heads((dot @ values).transpose(1, 2).reshape(b, t, dim))

    def forward(self, x):
        x = x + self.attend(self.norm_att(x))
        x = x + self.shrink(nn.functional.gelu(self.expand(self.norm_mlp(x))))
        return x


class ViT(nn.Module):
    def __init__(self, image_size=224, patch=16, channels=3, dim=768, depth=12, heads=12, mlp_dim=3072, classes=1000):
        super().__init__()
        self.embed = PatchAndPosition(image_size, patch, channels, dim)
        self.blocks = nn.Sequential(*[Block(dim, heads, mlp_dim) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.toprobs = nn.Linear(dim, classes)

    def forward(self, images):
        x = self.blocks(self.embed(images))
        return self.toprobs(self.norm(x[:, 0]))
